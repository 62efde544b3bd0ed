// hone generate: writes the source files of the dispatch profiler's operations. hone compile and
// hone profile share its options.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "profiler/dispatch_choice.h"

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
  // Flags of the old tool without a meaning today; each is refused with the reason.
  std::map<std::string, std::string, std::less<>> refused;
};

// Adds --generated-dir, --operation-kind, --dispatches and --mlir-dialect, which select dispatches
// of a tree.
void add_selection_options(CLI::App& command, GenerateOptions& options);
// Adds --device, --cuda-arch and --rocm-arch, the target of generated files; --verbose, --dry-run.
void add_target_options(CLI::App& command, GenerateOptions& options);
// Adds options of shapes, types, layouts and configurations.
void add_shape_options(CLI::App& command, GenerateOptions& options);
// Adds the old tool's flags that mean nothing today, except those that the command has.
// check_refused() refuses each with its reason.
void add_refused_options(CLI::App& command, GenerateOptions& options);
Status check_refused(const GenerateOptions& options, std::string_view command);

// Splits all values at commas.
std::vector<std::string> words_between_commas(const std::vector<std::string>& values);

// Returns the plan that the options describe. Input errors name the option, or the workload's file
// and line.
Result<profiler::GenerationPlan> plan_of(const GenerateOptions& options);

// Returns the kinds of --operation-kind; none for "all".
Result<std::vector<profiler::NamedOperationKind>> operation_kinds_of(
    const GenerateOptions& options);
// Checks dialect and device; input errors for those that hone does not generate for.
Status check_dialect(const GenerateOptions& options);
Result<profiler::GenerationTarget> generation_target_of(const GenerateOptions& options);

// Returns the dispatches of the tree that the options select. Prints to stderr what else lies
// there.
Result<profiler::TreeSelection> selection_of(const GenerateOptions& options);
// Prints their names for --dry-run: a line each, or {"dispatches": [names]}.
void print_selection(const profiler::TreeSelection& selection, bool as_json = false);

// Writes the plan's files and prints the old tool's line for each written one. With --dry-run it
// prints the lines of all files and writes none. The summary and skipped dispatches go to stderr;
// with `json` the lines do too.
Status write_plan(const GenerateOptions& options, const profiler::GenerationPlan& plan, bool json);

}  // namespace hone::cli
