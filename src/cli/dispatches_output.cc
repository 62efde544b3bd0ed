#include "cli/dispatches_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "output/json_text.h"
#include "output/screen.h"
#include "output/table.h"
#include "provider/iree/compile_worker.h"
#include "session/sessions.h"
#include "session/toolchain.h"
#include "tune/program_profile.h"
#include "tune/services/select_dispatches.h"
#include "tune/services/session_steps.h"

namespace hone::cli {
namespace {

using GraphNode = iree::ProgramGraph::Node;
using NodeKind = iree::ProgramGraph::Kind;

// Returns a DOT string. A symbol of the program may hold quotes.
std::string dot_string(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '"' || c == '\\') escaped += '\\';
    if (c == '\n')
      escaped += "\\n";
    else
      escaped += c;
  }
  return '"' + escaped + '"';
}

std::string_view shape_of(NodeKind kind) {
  switch (kind) {
    case NodeKind::kArgument:
    case NodeKind::kResult:
      return "ellipse";
    case NodeKind::kCall:
      return "box, peripheries=2";
    case NodeKind::kDispatch:
      break;
  }
  return "box";
}

std::string label_of(const GraphNode& node, const BoxLines& lines) {
  std::string label = (node.kind == NodeKind::kCall ? "call " : "") + node.name;
  if (const auto more = lines.find(node.name);
      more != lines.end() && node.kind == NodeKind::kDispatch)
    for (const std::string& line : more->second) label += "\n" + line;
  if (node.in_branch_or_loop) label += "\nin a branch or loop";
  return label;
}

using enum output::Align;
using output::Cell;

// Returns the share of the sum over all measured dispatches.
Cell share_cell(double seconds, double sum) {
  if (!(sum > 0)) return {nullptr, "-"};
  return {seconds / sum, fmt::format("{:.1f} %", 100 * seconds / sum)};
}

Cell rate_cell(double amount, std::optional<double> seconds) {
  if (!seconds || !(*seconds > 0)) return {nullptr, "-"};
  return {amount / *seconds, fmt::format("{:.1f}", amount / *seconds / 1e9)};
}

double sum_of_calls(const tune::ProgramProfile& profile) {
  double sum = 0;
  for (const tune::DispatchProfile& each : profile.dispatches) sum += each.call_seconds();
  return sum;
}

// Adds up the shares of a kernel's launch sets, since all have its name.
BoxLines lines_with_shares(const tune::ProgramProfile& profile) {
  const double sum = sum_of_calls(profile);
  std::map<std::string, double> seconds;
  for (const tune::DispatchProfile& each : profile.dispatches)
    seconds[each.dispatch->name] += each.call_seconds();
  BoxLines lines;
  for (const tune::DispatchProfile& each : profile.dispatches)
    lines[each.dispatch->name] = {
        problem::describe(each.dispatch->root),
        share_cell(seconds[each.dispatch->name], sum).text + " of the time"};
  return lines;
}

output::Table table_of(const tune::ProgramProfile& profile, bool alone) {
  const bool in_place = profile.sum_in_place().has_value();
  std::vector<output::Column> columns = {{"name", "dispatch"},
                                         {"operation", "root operation"},
                                         {"launches_per_call", "launches", kRight}};
  if (in_place) columns.push_back({"seconds_in_place", "a launch in place", kRight});
  if (alone) columns.push_back({"seconds", in_place ? "alone" : "a launch alone", kRight});
  columns.insert(columns.end(), {{"seconds_per_call", "a call", kRight},
                                 {"share", "share", kRight},
                                 {"bytes", "MB", kRight},
                                 {"bytes_per_second", "GB/s", kRight},
                                 {"flops_per_second", "GFLOP/s", kRight},
                                 {"share_of_roofline", "of roofline", kRight},
                                 {"limit", "limited by"}});
  output::Table table(std::move(columns));
  std::vector<const tune::DispatchProfile*> rows;
  for (const tune::DispatchProfile& each : profile.dispatches) rows.push_back(&each);
  std::ranges::stable_sort(rows, std::greater(), &tune::DispatchProfile::call_seconds);
  const double sum = sum_of_calls(profile);
  for (const tune::DispatchProfile* row : rows) {
    const problem::Dispatch& dispatch = *row->dispatch;
    const std::optional<double> launch = row->launch_seconds();
    const bool bounded = launch && row->bound_seconds() > 0;
    const double of_roofline = bounded ? row->bound_seconds() / *launch : 0;
    std::optional<double> call = launch;
    if (call) call = row->call_seconds();
    std::string limit = row->limit(), why = row->why_not;
    if (why.empty() && !launch) why = "the runtime says nothing of it";
    if (!why.empty())
      limit += fmt::format("{}not measured{}: {}", limit.empty() ? "" : "; ",
                           launch ? " alone" : "", why);
    std::vector<Cell> cells = {{dispatch.name, ""},
                               {problem::describe(dispatch.root), ""},
                               {dispatch.launches_per_call, ""}};
    if (in_place) cells.push_back(output::time_cell(row->seconds_in_place));
    if (alone) cells.push_back(output::time_cell(row->seconds));
    cells.insert(cells.end(), {output::time_cell(call),
                               share_cell(row->call_seconds(), sum),
                               {row->bytes, fmt::format("{:.2f}", row->bytes / 1e6)},
                               rate_cell(row->bytes, launch),
                               rate_cell(problem::flop_count(dispatch.root), launch),
                               {bounded ? nlohmann::json(of_roofline) : nlohmann::json(),
                                bounded ? fmt::format("{:.0f} %", 100 * of_roofline) : "-"},
                               {limit, output::in_one_line(limit)}});
    table.add(std::move(cells));
  }
  return table;
}

// Returns " (92 %)", the share of the whole.
std::string part_of(std::optional<double> sum, std::optional<double> whole) {
  return sum && whole ? fmt::format(" ({:.0f} %)", 100 * *sum / *whole) : "";
}

// Explains the difference between the sums and the whole. Times in place tell time between launches
// from the effect of caches and neighbours on a launch.
std::string words_of_rest(std::optional<double> whole, std::optional<double> in_place,
                          std::optional<double> alone) {
  constexpr double kAgrees = 0.1;
  const auto below = [](double part, double all) { return part < (1 - kAgrees) * all; };
  std::string text;
  if (whole && in_place && below(*in_place, *whole))
    text +=
        ". The rest of the program's time is between launches, in copies and in the call itself";
  const std::optional<double> beside = in_place ? in_place : whole;
  if (!beside || !alone) return text;
  if (below(*alone, *beside))
    text += in_place ? ". In place a launch may find cold what alone it finds in a cache"
                     : ". The rest is between launches, in copies, or because data that one launch "
                       "left is cold for the next";
  else if (*alone > (1 + kAgrees) * *beside)
    text +=
        ". In the program launches run side by side, or find data in caches that alone they do "
        "not";
  return text;
}

// Returns "the whole program under the compiler's own runtime: 1.31 ms; its launches in place: 1.28
// ms (98 %), alone: 1.1 ms (84 %): ...".
std::string words_of_sum(const tune::ProgramProfile& profile) {
  const std::optional<double> whole = profile.program_seconds, in_place = profile.sum_in_place(),
                              alone = profile.sum_alone();
  std::string text = whole ? "the whole program under the compiler's own runtime: " +
                                 output::time_cell(*whole).text
                           : "the whole program is not timed: " + profile.why_not;
  if (whole && !in_place && !profile.why_not.empty())
    text += "; what launches take in place is not known: " + profile.why_not;
  if (in_place)
    text +=
        "; its launches in place: " + output::time_cell(*in_place).text + part_of(in_place, whole);
  if (alone) text += "; alone: " + output::time_cell(*alone).text + part_of(alone, whole);
  // Ignore dispatches that run at load only: they are no part of a call.
  const auto unmeasured =
      std::ranges::count_if(profile.dispatches, [](const tune::DispatchProfile& each) {
        return !each.seconds && each.why_not != tune::kRunsAtLoadOnly;
      });
  if (alone && unmeasured > 0)
    text += fmt::format(", without {} that were not measured", unmeasured);
  return text + words_of_rest(whole, in_place, alone) + ".";
}

}  // namespace

std::string dot_text(const iree::ProgramGraph& graph, const std::string& title,
                     const BoxLines& lines) {
  std::string text = fmt::format(
      "digraph {} {{\n  node [fontname=\"Helvetica\"];\n  edge "
      "[fontname=\"Helvetica\", fontsize=10];\n",
      dot_string(title));
  const bool clustered = std::ranges::adjacent_find(graph.nodes, std::not_equal_to(),
                                                    &GraphNode::function) != graph.nodes.end();
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const GraphNode& node = graph.nodes[i];
    if (clustered && (i == 0 || graph.nodes[i - 1].function != node.function))
      text += fmt::format("{}  subgraph {} {{\n  label={};\n", i == 0 ? "" : "  }\n",
                          dot_string("cluster_" + node.function), dot_string(node.function));
    text += fmt::format("  n{} [label={}, shape={}];\n", i, dot_string(label_of(node, lines)),
                        shape_of(node.kind));
  }
  if (clustered) text += "  }\n";
  for (const iree::ProgramGraph::Edge& edge : graph.edges)
    text += fmt::format("  n{} -> n{} [label={}];\n", edge.from, edge.to, dot_string(edge.type));
  return text + "}\n";
}

Status print_graph(trial::CompileService& compiler, const std::string& path,
                   const std::string& bytes, const std::vector<std::string>& flags,
                   const BoxLines& lines) {
  HONE_ASSIGN(const iree::ProgramGraph graph,
              compiler.ask(iree::kProgramGraph, {path, bytes, flags}));
  fmt::print("{}", dot_text(graph, std::filesystem::path(path).filename().string(), lines));
  return {};
}

CommandResult profile_dispatches(SessionOptions options, bool quick, bool graph) {
  options.no_flags = true;
  HONE_ASSIGN(const std::vector<problem::SizeSet> sizes,
              problem::given_size_sets(options.toolchain.sizes));
  if (sizes.size() > 1) return input_error("--dim: a profile takes one size of each dimension");
  options.toolchain.sizes.clear();
  if (quick && gpu_of(options.toolchain))
    return input_error(
        "--quick works on CPUs only: hone reads no times inside a program on a GPU; remove "
        "--quick");
  return with_program_session(std::move(options), [&](ProgramSession& session) -> CommandResult {
    tune::Context& context = session.context;
    tune::ProgramTuning program(context, sizes.front(), "");
    HONE_ASSIGN(std::string bytes, read_file(session.options.tuning.input));
    // Start compiling the program to profile: it shares the frontend with the split, and its
    // backend takes longer than splitting.
    context.compiler.prefetch_compile(tune::program_to_profile(context.options, bytes));
    using References = tune::ProgramTuning::References;
    const Status loaded = program.load(std::make_shared<const std::string>(std::move(bytes)),
                                       quick ? References::kNone : References::kLoaded);
    // A program without tunable dispatches still takes time and is profiled.
    const bool has_dispatches = !program.result().program.dispatches.empty();
    if (!loaded && !(loaded.error().kind == ErrorKind::kFailure && has_dispatches))
      return tl::unexpected(loaded.error());
    store::Run row = run_row(session.options);
    row.program = program.result().program_id;
    HONE_TRY(context.store.begin_run(row));
    const Result<tune::ProgramProfile> profile = tune::profile_program(context, program, !quick);
    session.status.clear();
    HONE_TRY(tune::end_run(context, profile ? Status() : tl::unexpected(profile.error())));
    if (!profile) return tl::unexpected(session.stopped(profile.error()));
    if (quick && !profile->sum_in_place())
      return failure("no times inside the program, and --quick measures no others: {}",
                     profile->why_not);
    if (graph) {
      HONE_ASSIGN(const std::string text, read_file(session.options.tuning.input));
      HONE_TRY(print_graph(context.compiler, session.options.tuning.input, text, context.flags(),
                           lines_with_shares(*profile)));
      return 0;
    }
    const output::Table table = table_of(*profile, !quick);
    if (session.options.json) {
      output::print_document({{"program", session.options.tuning.input},
                              {"threads", session.options.tuning.place().address.cores.size()},
                              {"seconds", output::or_null(profile->program_seconds)},
                              {"sum_in_place", output::or_null(profile->sum_in_place())},
                              {"sum_seconds", output::or_null(profile->sum_alone())},
                              {"dispatches", table.to_json()}});
      return 0;
    }
    const std::size_t width = output::screen_width();
    fmt::print("{}\n{}\n", output::wrapped(words_of_sum(*profile), width), table.to_text(width));
    return 0;
  });
}

}  // namespace hone::cli
