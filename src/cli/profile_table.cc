#include "cli/profile_table.h"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "cli/program_session.h"
#include "cli/schema_version.h"
#include "output/cells.h"
#include "output/json_text.h"
#include "output/table.h"
#include "tune/program_profile.h"
#include "tune/select_dispatches.h"
#include "tune/session_steps.h"

namespace hone::cli {
namespace {

using output::Align;
using output::Cell;

// Against the sum of all that was measured.
Cell share_cell(double seconds, double sum) {
  if (!(sum > 0)) return {nullptr, "-"};
  return {seconds / sum, fmt::format("{:.1f} %", 100 * seconds / sum)};
}

Cell rate_cell(double amount, std::optional<double> seconds) {
  if (!seconds || !(*seconds > 0)) return {nullptr, "-"};
  return {amount / *seconds, fmt::format("{:.1f}", amount / *seconds / 1e9)};
}

output::Table table_of(const tune::ProgramProfile& profile) {
  output::Table table({{"name", "dispatch"},
                       {"operation", "root operation"},
                       {"launches_per_call", "launches", Align::kRight},
                       {"seconds", "a launch", Align::kRight},
                       {"seconds_per_call", "a call", Align::kRight},
                       {"share", "share", Align::kRight},
                       {"bytes", "MB", Align::kRight},
                       {"bytes_per_second", "GB/s", Align::kRight},
                       {"flops_per_second", "GFLOP/s", Align::kRight},
                       {"share_of_roofline", "of roofline", Align::kRight},
                       {"limit", "limited by"}});
  std::vector<const tune::DispatchProfile*> rows;
  for (const tune::DispatchProfile& each : profile.dispatches) rows.push_back(&each);
  std::ranges::stable_sort(rows, std::greater(), &tune::DispatchProfile::call_seconds);
  const double sum = profile.sum_seconds();
  for (const tune::DispatchProfile* row : rows) {
    const problem::Dispatch& dispatch = *row->dispatch;
    const bool bounded = row->seconds && row->bound_seconds() > 0;
    const double of_roofline = bounded ? row->bound_seconds() / *row->seconds : 0;
    const std::optional<double> call =
        row->seconds ? std::optional<double>(row->call_seconds()) : std::nullopt;
    const std::string why = row->why_not.substr(0, row->why_not.find('\n'));
    table.add({{dispatch.name, ""},
               {problem::describe(dispatch.root), ""},
               {dispatch.launches_per_call, ""},
               output::time_cell(row->seconds),
               output::time_cell(call),
               share_cell(row->call_seconds(), sum),
               {row->bytes, fmt::format("{:.2f}", row->bytes / 1e6)},
               rate_cell(row->bytes, row->seconds),
               rate_cell(problem::flop_count(dispatch.root), row->seconds),
               {bounded ? nlohmann::json(of_roofline) : nlohmann::json(),
                bounded ? fmt::format("{:.0f} %", 100 * of_roofline) : "-"},
               {row->seconds ? row->limit() : "not measured: " + row->why_not,
                row->seconds ? row->limit() : "not measured: " + why}});
  }
  return table;
}

// "the sum is 92 % of the program's 1.31 ms: the rest is between the launches, or ...".
std::string words_of_sum(const tune::ProgramProfile& profile) {
  // What runs at load only is no part of a call.
  const auto unmeasured =
      std::ranges::count_if(profile.dispatches, [](const tune::DispatchProfile& each) {
        return !each.seconds && each.why_not != tune::kRunsAtLoadOnly;
      });
  std::string text =
      fmt::format("sum of the launches: {}", output::time_cell(profile.sum_seconds()).text);
  if (unmeasured > 0) text += fmt::format(", without {} that were not measured", unmeasured);
  if (!profile.program_seconds)
    return text + "; the whole program is not timed: " + profile.why_not;
  const double whole = *profile.program_seconds;
  text += fmt::format("; the whole program under the compiler's own runtime: {}",
                      output::time_cell(whole).text);
  const double share = profile.sum_seconds() / whole;
  text += fmt::format(". The sum is {:.0f} % of it", 100 * share);
  constexpr double kAgrees = 0.1;
  if (share < 1 - kAgrees)
    text +=
        ": the rest is between launches, in copies, or because data that one launch left is cold "
        "for the next";
  else if (share > 1 + kAgrees)
    text += ": launches run side by side, or find their data in caches that they do not here";
  return text + ".";
}

}  // namespace

CommandResult profile_dispatches(TuneOptions options) {
  options.no_flags = true;
  HONE_ASSIGN(const std::vector<problem::SizeSet> sizes,
              problem::given_size_sets(options.toolchain.sizes));
  if (sizes.size() > 1) return input_error("--dim with several sizes: a profile is of one");
  options.toolchain.sizes.clear();
  return with_program_session(std::move(options), [&](ProgramSession& session) -> CommandResult {
    tune::Context& context = session.context;
    tune::Session program(context, sizes.front(), "");
    HONE_ASSIGN(std::string bytes, read_file(session.options.tuning.input));
    const Status loaded = program.load(std::make_shared<const std::string>(std::move(bytes)));
    // Nothing may be tunable in what takes time all the same.
    const bool has_dispatches = !program.result().program.dispatches.empty();
    if (!loaded && !(loaded.error().kind == ErrorKind::kFailure && has_dispatches))
      return tl::unexpected(loaded.error());
    store::Run row = run_row(session.options);
    row.program = program.result().program_id;
    HONE_TRY(context.store.begin_run(row));
    const Result<tune::ProgramProfile> profile = tune::profile_program(context, program);
    session.status.clear();
    HONE_TRY(tune::end_run(context, profile ? Status() : tl::unexpected(profile.error())));
    if (!profile) return tl::unexpected(session.stopped(profile.error()));
    const output::Table table = table_of(*profile);
    if (session.options.json) {
      const nlohmann::json whole =
          profile->program_seconds ? nlohmann::json(*profile->program_seconds) : nlohmann::json();
      fmt::print("{}\n", output::json_text(nlohmann::json{
                             {"schema_version", kSchemaVersion},
                             {"program", session.options.tuning.input},
                             {"threads", session.options.tuning.place().address.cores.size()},
                             {"seconds", whole},
                             {"sum_seconds", profile->sum_seconds()},
                             {"dispatches", table.to_json()}}));
      return 0;
    }
    fmt::print("{}\n{}\n", table.to_text(), words_of_sum(*profile));
    return 0;
  });
}

}  // namespace hone::cli
