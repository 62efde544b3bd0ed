// IREE's half in the worker processes: libIREECompiler does the jobs of provider/jobs.h, three more
// about a program, and merges and upgrades specs.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "provider/compile_worker.h"
#include "provider/iree/program/launches.h"
#include "provider/iree/program/program_graph.h"
#include "provider/iree/program/replaceable_operations.h"
#include "provider/iree/spec/merged_spec.h"
#include "provider/iree/spec_upgrade/upgraded_spec.h"
#include "provider/jobs.h"

namespace hone::iree {

inline constexpr provider::jobs::ProgramJob<std::vector<ReplaceableOperation>>
    kReplaceableOperations{"replaceable_operations", provider::kBody, "operations"};
inline constexpr provider::jobs::ProgramJob<std::vector<ExternLaunch>> kExternLaunches{
    "extern_launches", provider::kBody, "launches"};
inline constexpr provider::jobs::ProgramJob<ProgramGraph> kProgramGraph{"program_graph",
                                                                        provider::kBody, "graph"};
inline constexpr provider::Job<SpecSources, MergedSpec> kMergeSpecs{"merge_specs"};
inline constexpr provider::Job<SpecSources, UpgradedSpec> kUpgradeSpec{"upgrade_spec"};

// Opens the compiler of `installation`, as find_installation() takes it. Errors of it and of
// CompilerLibrary::open.
Result<std::unique_ptr<provider::CompileWorker>> open_compile_worker(
    const std::string& installation);

}  // namespace hone::iree
