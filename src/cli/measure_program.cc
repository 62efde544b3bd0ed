// hone tune PROGRAM --measure-only: verifies and measures what --compile-only has stored.
#include <fmt/ranges.h>

#include "base/text.h"
#include "cli/tune_options.h"
#include "output/json_text.h"
#include "output/report_page.h"
#include "output/session_report.h"
#include "session/registry.h"
#include "session/travelling_work.h"
#include "tune/dispatch/dispatch_list.h"

namespace hone::cli {
namespace {

CommandResult print_measured(ProgramSession& session, const tune::TunedList& measured) {
  const auto& [options, store, context, status] = session;
  HONE_ASSIGN(const output::Table table,
              output::dispatch_table(store, measured.list, context.baseline.build, context.device,
                                     core_library_columns()));
  const auto faster = std::ranges::count_if(
      measured.tuned, [](const tune::TunedDispatch& each) { return each.payload.has_value(); });
  const std::string next = fmt::format("hone tune {} --store {}", shell_word(options.tuning.input),
                                       shell_word(options.store));
  if (options.json) {
    nlohmann::json not_tuned = nlohmann::json::array();
    for (const tune::NotTuned& each : measured.not_tuned)
      not_tuned.push_back({{"dispatch", each.dispatch}, {"reason", each.reason}});
    output::print_document({{"program", options.tuning.input},
                            {"device", options.tuning.place().facts.name},
                            {"dispatches", table.to_json()},
                            {"not_tuned", std::move(not_tuned)},
                            {"faster", faster},
                            {"next", next}});
    return 0;
  }
  fmt::print("{}", table.to_text());
  for (const tune::NotTuned& each : measured.not_tuned)
    fmt::print("not measured: {}: {}\n", each.dispatch, each.reason);
  fmt::print("\n{} of {} dispatches have a faster kernel on {}\nnext, where the compiler is: {}\n",
             faster, measured.tuned.size(), options.tuning.place().facts.name, next);
  return 0;
}

}  // namespace

CommandResult measure_program(TuneOptions options) {
  return with_measuring_session(
      std::move(options),
      [](ProgramSession& session, const tune::DispatchList& list) -> CommandResult {
        Result<tune::TunedList> measured =
            tune::tune_list(session.context, run_row(session.options), list,
                            [](const tune::TunedList&) -> Status { return {}; });
        session.status.clear();
        if (!measured) return tl::unexpected(session.stopped(measured.error()));
        HONE_TRY(output::write_report(session.store, session.options.store,
                                      session.options.tuning.out / "report.html"));
        return print_measured(session, *measured);
      });
}

}  // namespace hone::cli
