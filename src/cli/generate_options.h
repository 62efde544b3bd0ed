// What hone generate makes, as a command line says it.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "profiler/generation.h"

namespace hone::cli {

struct GenerateOptions {
  std::string generated_dir = ".";
  std::string operation_kinds = "all";
  std::string dispatches;
  std::string dialect = "linalg";
  std::string device = "cuda";
  std::string cuda_arch = "sm_80";
  std::string rocm_arch = "gfx942";
  std::map<std::string, std::string, std::less<>> extents;  // by profiler::extent_names(), as text
  std::vector<std::string> types;                           // "f16", "f16,f16,f32"
  std::vector<std::string> layouts;                         // "tt,tn"
  std::string workload;                                     // YAML file; empty: none
  std::string configurations = "tiles";  // "tiles", "default", "space:N", with commas between
  std::string iree;                      // for space:N; empty: looked for
  std::uint64_t seed = 42;               // likewise
  bool default_configuration = false;
  bool verbose = false;
  bool dry_run = false;
  bool mma_sync = true;  // the old flag: there is nothing else
  // Of the old tool, without a meaning today: refused with the reason.
  std::map<std::string, std::string, std::less<>> refused;
};

// --generated-dir, --operation-kind, --dispatches, --mlir-dialect, --device, --cuda-arch,
// --default-config, --verbose, --dry-run: what is said of a tree of files.
void add_tree_options(CLI::App& command, GenerateOptions& options);
// Shapes, types, layouts and configurations.
void add_shape_options(CLI::App& command, GenerateOptions& options);
// The old generator's flags that mean nothing today: plan_of() refuses each with its reason.
void add_refused_options(CLI::App& command, GenerateOptions& options);

// What the options mean. Input errors name the option, or the workload's file and line.
Result<profiler::GenerationPlan> plan_of(const GenerateOptions& options);

// The kinds of --operation-kind; none for "all".
Result<std::vector<profiler::OperationKind>> operation_kinds_of(const GenerateOptions& options);
// Input errors for a dialect or device that hone does not generate for.
Status check_dialect(const GenerateOptions& options);
Result<profiler::GenerationTarget> generation_target_of(const GenerateOptions& options);

// Writes the plan's files and prints the old tool's lines for what is written, with --dry-run for
// everything and without writing; a summary and what is left out go to standard error.
Status write_plan(const GenerateOptions& options, const profiler::GenerationPlan& plan);

}  // namespace hone::cli
