// hone dispatches: the dispatches that the compiler splits a program into.
#include <algorithm>
#include <functional>
#include <numeric>

#include "base/file.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/common_options.h"
#include "cli/dispatches_output.h"
#include "output/json_text.h"
#include "output/screen.h"
#include "output/table.h"
#include "session/input_program.h"
#include "session/places.h"
#include "session/replacing_kernels.h"
#include "session/runtime_options.h"
#include "session/toolchain.h"
#include "tune/services/select_dispatches.h"

namespace hone::cli {
namespace {

using enum output::Align;

struct DispatchesOptions {
  SessionOptions profiling;  // what --profile takes beside the others
  bool profile = false, quick = false;
  std::string graph;  // "dot"; empty: none
  ToolchainOptions toolchain;
  std::string input;
  std::vector<std::string> external;  // manifests
  std::string extract_root;           // number or name of a dispatch
  std::string output;
  bool json = false;
};

// Numbered reasons, listed below the table: they are sentences, and many dispatches share one.
class Reasons {
 public:
  std::string mark(const std::string& reason) {
    const auto known = std::ranges::find(reasons_, reason);
    const auto number = known - reasons_.begin() + 1;
    if (known == reasons_.end()) reasons_.push_back(reason);
    return fmt::format("no ({})", number);
  }
  std::string text() const {
    std::string lines;
    for (std::size_t i = 0; i < reasons_.size(); ++i)
      lines += fmt::format("({}) {}\n", i + 1, reasons_[i]);
    return lines;
  }

 private:
  std::vector<std::string> reasons_;
};

// Returns whether hone knows what a replacing kernel must compute, and as JSON the statement of it.
output::Cell statement_cell(const problem::Dispatch& dispatch, Reasons& reasons) {
  if (!dispatch.statement) return {nullptr, "-"};
  const std::string& why_not = dispatch.statement->why_not;
  return {*dispatch.statement, why_not.empty() ? "yes" : reasons.mark(why_not)};
}

// Counts equal operations: "elementwise x3, transpose". The fused operations of a layer norm would
// fill the screen otherwise.
std::string counted(const std::vector<std::string>& operations) {
  std::vector<std::string> once;
  for (const std::string& each : operations)
    if (std::ranges::count(once, each) == 0) once.push_back(each);
  for (std::string& each : once)
    if (const auto times = std::ranges::count(operations, each); times > 1)
      each += fmt::format(" x{}", times);
  return once.empty() ? "-" : fmt::format("{}", fmt::join(once, ", "));
}

// Shortens an attribute to a column's width, without the name that all share; --json has all of it.
std::string shortened(const std::string& attribute) {
  constexpr std::size_t kMost = 60;
  if (attribute.empty()) return "-";
  const auto name_ends = attribute.find('<');
  const bool has_name = attribute.starts_with('#') && name_ends != std::string::npos;
  const std::string text = has_name && attribute.ends_with('>')
                               ? attribute.substr(name_ends + 1, attribute.size() - name_ends - 2)
                               : attribute;
  return text.size() <= kMost ? text : text.substr(0, kMost - 3) + "...";
}

using Providers = std::vector<std::unique_ptr<provider::Provider>>;

// Returns the provider's name without the hash of its text, which does not help a reader.
std::string kernel_title(const provider::Provider& kernel) {
  return std::string(kernel.name().substr(0, kernel.name().find('@')));
}

// Counts one call of the program.
double flops_of_call(const problem::Dispatch& dispatch) {
  return static_cast<double>(dispatch.launches_per_call) * problem::flop_count(dispatch.root);
}

// Longest list in the program's order; longer ones are sorted by share of operations for people.
constexpr std::size_t kMostInOrder = 20;

// Returns positions in the program, in the order in which they are listed.
std::vector<std::size_t> order_of(const problem::Program& program, bool for_people) {
  std::vector<std::size_t> order(program.dispatches.size());
  std::iota(order.begin(), order.end(), 0);
  if (for_people && order.size() > kMostInOrder)
    std::ranges::stable_sort(order, std::greater(),
                             [&](std::size_t i) { return flops_of_call(program.dispatches[i]); });
  return order;
}

// Returns the table. `replacing`: providers of kernels that may replace the compiler's, a column
// each. Their answers replace the column on whether a dispatch states what it computes.
output::Table table_of(const problem::Program& program, const Providers& replacing, bool for_people,
                       Reasons& reasons) {
  const bool sorted = for_people && program.dispatches.size() > kMostInOrder;
  double all_flops = 0;
  for (const problem::Dispatch& dispatch : program.dispatches) all_flops += flops_of_call(dispatch);
  std::vector<output::Column> columns({{"index", "#", kRight},
                                       {"name", "dispatch"},
                                       {"operation", "root operation"},
                                       {"fused", "fused around it"},
                                       {"launches_per_call", "launches", kRight},
                                       {"flops", "MFLOP", kRight},
                                       {"share_of_flops_percent", "of all FLOP", kRight, sorted},
                                       {"bytes", "MB", kRight},
                                       {"default_configuration", "default configuration"},
                                       {"default_translation", "", kLeft, /*on_screen=*/false},
                                       {"not_tunable", "tunable"},
                                       {"statement", "replaceable", kLeft, replacing.empty()}});
  for (const auto& kernel : replacing)
    columns.push_back({kernel_title(*kernel), kernel_title(*kernel)});
  output::Table table(std::move(columns));
  for (const std::size_t i : order_of(program, for_people)) {
    const problem::Dispatch& dispatch = program.dispatches[i];
    const double flops = problem::flop_count(dispatch.root);
    double bytes = 0;
    for (const problem::Binding& binding : dispatch.bindings)
      bytes += static_cast<double>(binding.bytes);
    std::vector<output::Cell> cells(
        {{i, ""},
         {dispatch.name, ""},
         {problem::describe(dispatch.root), ""},
         {dispatch.fused, counted(dispatch.fused)},
         {dispatch.launches_per_call, ""},
         {flops, fmt::format("{:.1f}", flops / 1e6)},
         all_flops > 0 ? output::number_cell(100 * flops_of_call(dispatch) / all_flops, " %", 1)
                       : output::number_cell({}, "", 0),
         {bytes, fmt::format("{:.2f}", bytes / 1e6)},
         {dispatch.default_configuration, shortened(dispatch.default_configuration)},
         {output::text_or_null(dispatch.default_translation), ""},
         {output::text_or_null(dispatch.not_tunable),
          dispatch.not_tunable.empty() ? "yes" : reasons.mark(dispatch.not_tunable)},
         statement_cell(dispatch, reasons)});
    for (const auto& kernel : replacing) {
      const std::string why_not = kernel->why_no_space(dispatch);
      cells.push_back({why_not.empty() ? nlohmann::json("yes") : nlohmann::json("no: " + why_not),
                       why_not.empty() ? "yes" : reasons.mark(why_not)});
    }
    table.add(std::move(cells));
  }
  return table;
}

// Writes the program to the screen, unless -o names a file.
CommandResult write_root(const DispatchesOptions& options, const problem::Program& program,
                         trial::CompileService& compiler) {
  HONE_ASSIGN(const problem::Dispatch* const dispatch,
              tune::find_dispatch(program, options.extract_root));
  HONE_ASSIGN(const std::string text,
              compiler.ask(provider::jobs::kExtractRoot,
                           {dispatch->name, dispatch->source, compile_flags(options.toolchain)}));
  const std::string commented =
      fmt::format("// {}, the root operation of {} in {}, without what is fused around it.\n{}",
                  problem::describe(dispatch->root), dispatch->name,
                  std::filesystem::path(options.input).filename().string(), text);
  if (options.output.empty()) {
    fmt::print("{}", commented);
    return 0;
  }
  HONE_TRY(write_file_atomically(options.output, commented));
  fmt::print("{}: {}\n", options.output, problem::describe(dispatch->root));
  return 0;
}

CommandResult profile(const DispatchesOptions& options) {
  if (!options.extract_root.empty())
    return input_error("--profile and --extract-root exclude each other");
  SessionOptions profiling = options.profiling;
  profiling.toolchain = options.toolchain;
  profiling.tuning.input = options.input;
  profiling.json = options.json;
  profiling.command_line = "hone dispatches --profile " + shell_word(options.input);
  return profile_dispatches(std::move(profiling), options.quick, !options.graph.empty());
}

BoxLines lines_with_operations(const problem::Program& program) {
  BoxLines lines;
  for (const problem::Dispatch& dispatch : program.dispatches)
    lines[dispatch.name] = {problem::describe(dispatch.root)};
  return lines;
}

void print_table(const DispatchesOptions& options, const std::string& compiler,
                 const problem::Program& program, const Providers& replacing) {
  Reasons reasons;
  const output::Table table = table_of(program, replacing, !options.json, reasons);
  if (options.json) {
    output::print_document({{"program", options.input},
                            {"compiler", compiler},
                            {"target", target_json(options.toolchain)},
                            {"dispatches", table.to_json()},
                            {"regions", program.regions.names},
                            {"regions_spec", program.regions.spec}});
  } else if (table.empty()) {
    fmt::print("{} has no dispatches.\n", options.input);
  } else {
    const std::size_t width = output::screen_width();
    fmt::print("{}{}", table.to_text(width), output::wrapped(reasons.text(), width));
    for (const std::string& region : program.regions.names)
      fmt::print("{}", output::wrapped(
                           fmt::format("region: {}: hone tune may make it one dispatch\n", region),
                           width));
  }
}

CommandResult list_dispatches(DispatchesOptions& options) {
  HONE_TRY(read_flags(options.toolchain));
  if (!options.graph.empty() && (options.json || !options.extract_root.empty()))
    return input_error("--graph prints a picture: leave --json and --extract-root out");
  if (options.profile) return profile(options);
  if (options.quick) return input_error("--quick needs --profile");
  if (!options.output.empty() && options.extract_root.empty())
    return input_error("-o needs --extract-root DISPATCH");
  // A device that is named is the target.
  if (const std::string& device = options.profiling.device; !device.empty())
    HONE_TRY(choose_places(device, options.toolchain, options.profiling.cores));
  const auto gpu = gpu_of(options.toolchain);
  HONE_ASSIGN(const Providers replacing, replacing_providers(options.external, gpu));
  HONE_ASSIGN(const OpenedProgram opened, open_program(options.toolchain, options.input));
  HONE_ASSIGN(const problem::Program program, load(opened, options.toolchain, options.input));
  trial::CompileService& compiler = opened.toolchain.compiler();
  if (!options.extract_root.empty()) return write_root(options, program, compiler);
  if (!options.graph.empty()) {
    HONE_TRY(print_graph(compiler, opened.input.path, opened.input.bytes,
                         compile_flags(options.toolchain), lines_with_operations(program)));
    return 0;
  }
  print_table(options, opened.toolchain.revision(), program, replacing);
  return 0;
}

}  // namespace

void add_dispatches_command(CLI::App& app, Action& run) {
  const auto [command, options] = add_command<DispatchesOptions>(
      app, run, "dispatches", "List the dispatches of a program", list_dispatches);
  command.add_option("INPUT", options.input, kProgramFiles)->required();
  add_toolchain_options(command, options.toolchain);
  add_external_option(command, options.external);
  command.add_option("--extract-root", options.extract_root,
                     "write the root operation of a dispatch (number or name) as a program");
  command.add_option("-o,--output", options.output, "file for --extract-root [stdout]");
  command.add_flag("--profile", options.profile,
                   "measure each default kernel and the whole program");
  command.add_flag("--quick", options.quick, "profile runs of the whole program only (CPUs)");
  command
      .add_option("--graph", options.graph,
                  "draw the launches and the tensors between them (dot: for Graphviz)")
      ->check(CLI::IsMember({"dot"}));
  SessionOptions& profiling = options.profiling;
  add_default_option(command, "--store", profiling.store,
                     "keep the times of --profile in this SQLite file");
  add_default_option(command, "--out", profiling.tuning.out,
                     "folder for imported models, with --profile");
  add_device_option(command, profiling.device);
  add_core_options(command, profiling.cores);
  add_runtime_options(command, profiling.runtime, "the first");
  command.add_flag("--plain", profiling.plain,
                   "print progress as plain lines, as without a terminal");
  command.add_flag("--json", options.json, "print one JSON document");
}

}  // namespace hone::cli
