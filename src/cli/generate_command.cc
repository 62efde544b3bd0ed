#include "cli/generate_command.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/text.h"
#include "cli/command.h"
#include "cli/common_options.h"
#include "cli/option_layout.h"
#include "cli/other_tools.h"
#include "profiler/sweep.h"
#include "profiler/tree.h"
#include "session/space_configurations.h"

namespace hone::cli {
namespace {

struct ExtentFlag {
  const char* flags;  // as CLI11 takes them
  const char* name;   // profiler::extent_names()
  const char* description;
};

// Flags of the extents; all take lists and ranges.
constexpr ExtentFlag kExtentFlags[] = {
    {"--problem-m,-m", "m", "rows of the result: 768, 64,128 or 64:1024:128"},
    {"--problem-n,-n", "n", "columns of the result"},
    {"--problem-k,-k", "k", "length of the reduction"},
    {"--batch", "batch", "matrix products per batch; attention heads"},
    {"--split-k-slices", "split_k_slices", "number of slices of k"},
    {"--images", "images", "images per convolution"},
    {"--height", "height", "image height, before padding"},
    {"--width", "width", "image width, before padding"},
    {"--channels", "channels", "input channels"},
    {"--filters", "filters", "output channels"},
    {"--filter-height", "filter_height", "filter height"},
    {"--filter-width", "filter_width", "filter width"},
    {"--stride", "stride", "stride along both axes"},
    {"--dilation", "dilation", "dilation along both axes"},
    {"--padding", "padding", "zero padding around the image"},
    {"--groups", "groups", "groups of channels and filters"},
};

struct RefusedFlag {
  const char* name;
  std::string_view reason;
};

// Refused flags. The old generator accepted the compile group too, without effect. Other old flags
// concerned code that no longer exists.
constexpr RefusedFlag kRefusedFlags[] = {
    {"--build-dir", "hone builds no IREE; --iree names an installed one"},
    {"--use-wmma", "IREE has only mma.sync for CUDA"},
    {"--batch-size", "hone measures how often to launch; the files do not depend on it"},
    {"--mlir-print-ir-after-all",
     "pass it to iree-compile, with the command that hone compile writes"},
};

// Returns the flag that sets the extent, for messages.
std::string flag_of(std::string_view extent) {
  const auto* const found =
      std::ranges::find(kExtentFlags, extent, [](const ExtentFlag& each) { return each.name; });
  const std::string_view flags = found->flags;
  return std::string(flags.substr(0, flags.find(',')));
}

Result<profiler::Sweep> sweep_of(const GenerateOptions& options) {
  profiler::Sweep sweep;
  HONE_ASSIGN(sweep.kinds, operation_kinds_of(options));
  for (const auto& [name, text] : options.extents) {
    if (text.empty()) continue;
    HONE_ASSIGN(sweep.extents[name], profiler::read_extents(flag_of(name), text));
  }
  for (const std::string& text : options.types) {
    HONE_TRY(profiler::read_types("--types", text, sweep.types));
  }
  for (const std::string& word : words_between_commas(options.layouts)) {
    HONE_TRY(profiler::read_layouts("--layouts", word, sweep.layouts));
  }
  return sweep;
}

bool names_shapes(const profiler::Sweep& sweep) {
  return !sweep.kinds.empty() || !sweep.extents.empty();
}

// Returns the operations of the workload, then those of the flags; without a workload those of the
// flags alone.
Result<std::vector<profiler::NamedOperation>> operations_of(const GenerateOptions& options) {
  HONE_ASSIGN(const profiler::Sweep sweep, sweep_of(options));
  if (options.workload.empty()) return profiler::chosen_operations(sweep);
  HONE_ASSIGN(std::vector<profiler::NamedOperation> operations,
              profiler::read_workload(options.workload));
  if (names_shapes(sweep)) {
    HONE_ASSIGN(const auto more, profiler::chosen_operations(sweep));
    operations.insert(operations.end(), more.begin(), more.end());
  } else if (!sweep.types.empty() || !sweep.layouts.empty()) {
    return input_error(
        "--types and --layouts do not apply to --workload {}: its entries name their own",
        options.workload);
  }
  return operations;
}

// Lists of configurations that --configs names.
struct ConfigurationLists {
  bool tiles = false, compilers_own = false;
  std::size_t from_space = 0;
};

Result<ConfigurationLists> lists_of(const GenerateOptions& options) {
  constexpr std::string_view kSpace = "space:";
  constexpr std::size_t kMostOfSpace = 10'000;
  ConfigurationLists lists;
  for (const std::string& word : words_between_commas({options.configurations})) {
    if (word == "tiles") {
      lists.tiles = true;
    } else if (word == "default") {
      lists.compilers_own = true;
    } else if (word.starts_with(kSpace)) {
      const auto count = profiler::read_extents("--configs", word.substr(kSpace.size()));
      if (!count || count->size() != 1 || count->front() < 1 ||
          static_cast<std::size_t>(count->front()) > kMostOfSpace)
        return input_error("--configs '{}': N of space:N is a number from 1 to {}", word,
                           kMostOfSpace);
      lists.from_space = static_cast<std::size_t>(count->front());
    } else {
      return input_error(
          "--configs '{}' is not tiles (the old tool's lists), default (the compiler's own choice) "
          "or space:N (N of the operation's space)",
          word);
    }
  }
  return lists;
}

void print_left_out(const profiler::GenerationPlan& plan, const GenerateOptions& options) {
  if (plan.left_out.empty()) return;
  if (options.verbose)
    for (const profiler::SkippedDispatch& each : plan.left_out)
      say("[Warning]: {} is skipped: {}\n", each.dispatch, each.reason);
  else if (options.device.starts_with("cuda"))
    say("{} configurations of the old lists are skipped; --verbose prints the reasons.\n",
        plan.left_out.size());
}

CommandResult generate(GenerateOptions& options) {
  HONE_ASSIGN(const profiler::GenerationPlan plan, plan_of(options));
  HONE_TRY(write_plan(options, plan, /*json=*/false));
  return 0;
}

}  // namespace

std::vector<std::string> words_between_commas(const std::vector<std::string>& values) {
  std::vector<std::string> words;
  for (const std::string& value : values) {
    std::istringstream text(value);
    for (std::string word; std::getline(text, word, ',');) words.push_back(word);
  }
  return words;
}

void add_selection_options(CLI::App& command, GenerateOptions& options) {
  add_default_option(command, "--generated-dir", options.generated_dir,
                     "folder of the tree 'generated'");
  add_default_option(command, "--operation-kind", options.operation_kinds,
                     "kinds: matmul, conv2d, ..., comma-separated, or all");
  command.add_option("--dispatches,--dispatch", options.dispatches,
                     "use only dispatches that match a pattern or regex");
  command.add_option("--mlir-dialect", options.dialect, "accepted: hone writes linalg only")
      ->group(tool::kDispatchProfiler);
}

void add_target_options(CLI::App& command, GenerateOptions& options) {
  add_default_option(command, "--device", options.device, "write for cuda, cpu or rocm");
  add_default_option(command, "--cuda-arch", options.cuda_arch, "architecture of --device cuda")
      ->group(heading::kCompiler);
  add_default_option(command, "--rocm-arch", options.rocm_arch, "architecture of --device rocm")
      ->group(heading::kCompiler);
  command.add_flag("--verbose", options.verbose, "print skipped configurations with the reason");
  command.add_flag("--dry-run", options.dry_run, "print the plan; change nothing");
}

void add_shape_options(CLI::App& command, GenerateOptions& options) {
  for (const ExtentFlag& flag : kExtentFlags)
    command.add_option(flag.flags, options.extents[flag.name], flag.description)
        ->group(heading::kShapes);
  const auto add = [&](const char* name, auto& value, const char* text) {
    return command.add_option(name, value, text)->group(heading::kOperations);
  };
  add("--types", options.types,
      "types of lhs, rhs and result: f16, f16,f16,f32 or all; repeatable");
  add("--layouts", options.layouts,
      "layouts of lhs and rhs: tt, tn, nt, nn (t: row major), nhwc, nchw or all; repeatable");
  add("--workload", options.workload, "read operations from a YAML file");
  add("--configs", options.configurations,
      "configurations: tiles, default or space:N, comma-separated")
      ->capture_default_str();
  add("--seed", options.seed, "seed of space:N")->capture_default_str();
  command
      .add_flag("--default-config", options.default_configuration,
                "add the compiler's own configuration (--configs default)")
      ->group(heading::kOperations);
  command.add_option("--iree", options.iree, kIreeHelp);
}

void add_refused_options(CLI::App& command, GenerateOptions& options) {
  command.add_flag("--use-mma-sync", options.mma_sync, "accepted: CUDA code always uses mma.sync")
      ->group(tool::kDispatchProfiler);
  for (const RefusedFlag& flag : kRefusedFlags)
    if (command.get_option_no_throw(flag.name) == nullptr)
      command
          .add_option(flag.name, options.refused[flag.name],
                      fmt::format("refused: {}", flag.reason))
          ->expected(0, 1)
          ->type_name("")
          ->group(tool::kDispatchProfiler);
}

Status check_refused(const GenerateOptions& options, std::string_view command) {
  if (!options.mma_sync)
    return input_error(
        "--use-mma-sync=false: today's compiler has no other instructions of CUDA's tensor cores");
  for (const RefusedFlag& flag : kRefusedFlags) {
    const auto given = options.refused.find(flag.name);
    if (given != options.refused.end() && !given->second.empty())
      return input_error("{} does not take {}: {}", command, flag.name, flag.reason);
  }
  return {};
}

Result<std::vector<profiler::NamedOperationKind>> operation_kinds_of(
    const GenerateOptions& options) {
  std::vector<profiler::NamedOperationKind> kinds;
  if (options.operation_kinds == "all") return kinds;
  for (const std::string& word : words_between_commas({options.operation_kinds})) {
    auto kind = profiler::operation_kind_from(word);
    if (!kind) return input_error("--operation-kind: {}", kind.error().message);
    kinds.push_back(*kind);
  }
  return kinds;
}

Status check_dialect(const GenerateOptions& options) {
  if (options.dialect == "linalg") return {};
  return input_error("--mlir-dialect '{}': hone writes linalg; the old tool never wrote another",
                     options.dialect);
}

Result<profiler::GenerationTarget> generation_target_of(const GenerateOptions& options) {
  const std::string& device = options.device;
  if (device == "cpu" || device.starts_with("cpu:") || device == "llvm-cpu")
    return profiler::cpu_target();
  if (device == "cuda" || device.starts_with("cuda:"))
    return profiler::cuda_target(options.cuda_arch);
  if (device == "rocm" || device == "hip" || device.starts_with("hip:"))
    return profiler::rocm_target(options.rocm_arch);
  if (device == "vulkan")
    return input_error("--device vulkan: hone compiles for CPUs, CUDA and ROCm, not for Vulkan");
  return input_error("--device '{}' is not cuda, cpu or rocm", device);
}

Result<profiler::TreeSelection> selection_of(const GenerateOptions& options) {
  HONE_ASSIGN(const std::vector<profiler::NamedOperationKind> kinds, operation_kinds_of(options));
  HONE_ASSIGN(const profiler::DispatchFilter filter,
              profiler::DispatchFilter::parse(options.dispatches));
  HONE_ASSIGN(profiler::TreeSelection selection,
              profiler::select_dispatches(options.generated_dir, kinds, filter));
  for (const std::string& stranger : selection.strangers) say("[Warning]: skipped: {}\n", stranger);
  return selection;
}

void print_selection(const profiler::TreeSelection& selection, bool as_json) {
  std::vector<std::string> names;
  for (const profiler::SelectedOperation& selected : selection.operations)
    for (const std::string& configuration : selected.configurations)
      names.push_back(profiler::NamedDispatch{selected.operation, configuration}.name());
  if (as_json)
    fmt::print("{}\n", nlohmann::json{{"dispatches", names}}.dump(2));
  else
    for (const std::string& name : names) fmt::print("{}\n", name);
}

Result<profiler::GenerationPlan> plan_of(const GenerateOptions& options) {
  HONE_TRY(check_refused(options, "hone generate"));
  HONE_TRY(check_dialect(options));
  profiler::GenerationChoice choice;
  HONE_ASSIGN(const ConfigurationLists lists, lists_of(options));
  choice.default_configuration = options.default_configuration || lists.compilers_own;
  choice.tiles = lists.tiles;
  HONE_ASSIGN(choice.target, generation_target_of(options));
  HONE_ASSIGN(choice.filter, profiler::DispatchFilter::parse(options.dispatches));
  HONE_ASSIGN(const std::vector<profiler::NamedOperation> operations, operations_of(options));
  if (lists.from_space == 0) return profiler::plan_generation(operations, choice);
  HONE_ASSIGN(
      SpaceConfigurations spaces,
      SpaceConfigurations::start(
          choice.target.arch.empty() ? std::string("host") : choice.target.arch, options.iree));
  choice.further = [&](const profiler::NamedOperation& operation) {
    return spaces.configurations_of(operation, lists.from_space, options.seed);
  };
  return profiler::plan_generation(operations, choice);
}

Status write_plan(const GenerateOptions& options, const profiler::GenerationPlan& plan, bool json) {
  std::size_t written = 0;
  for (const profiler::PlannedOperation& planned : plan.operations) {
    if (!options.dry_run) {
      HONE_ASSIGN(const profiler::Written how,
                  profiler::write_source(options.generated_dir, planned));
      if (how == profiler::Written::kUnchanged) continue;
    }
    ++written;
    std::string text = fmt::format(
        "[Generating]: {}\n",
        profiler::OperationFiles(options.generated_dir, planned.operation).source().string());
    for (const profiler::TileConfiguration& configuration : planned.configurations)
      text += fmt::format("    Emitting tuning configuration : {}\n", configuration.name);
    if (json)
      say("{}", text);
    else
      fmt::print("{}", text);
  }
  print_left_out(plan, options);
  say("{} dispatches of {} operations: {}\n", plan.dispatch_count(), plan.operations.size(),
      options.dry_run ? "nothing is written (--dry-run)"
      : written == 0  ? "nothing was changed"
                      : fmt::format("{} files written, {} as they were", written,
                                    plan.operations.size() - written));
  return {};
}

void add_generate_command(CLI::App& app, Action& run) {
  const auto [command, options] = add_command<GenerateOptions>(
      app, run, "generate", "Write operations as MLIR files", generate);
  add_selection_options(command, options);
  add_target_options(command, options);
  add_shape_options(command, options);
  add_refused_options(command, options);
  command.footer(
      "Each kind has default shapes (docs/dispatch-profiler.md). Unchanged files are\n"
      "not rewritten. Flags of IREE's profiler: hone help migration.");
}

}  // namespace hone::cli
