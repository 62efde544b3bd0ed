// Closing tables of `hone tune`, read from the store: of a session and its candidates, of its time
// by phase, and of --compile-only.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "output/measured_dispatch.h"
#include "output/table.h"
#include "store/store.h"
#include "trial/time_budget.h"
#include "tune/dispatch/compile_only.h"

namespace hone::output {

// Returns a row per tuned dispatch, those with the largest share of the time first: its share,
// times, speedup with the 95 % interval, the winner's id and provider. `share`: of all of them
// together in the program's time, 0 to 1; the times of skipped dispatches are not in the store.
Result<Table> tuned_table(store::Store& store, store::Id program, store::Id build, store::Id device,
                          double share);

// Returns a row per dispatch of the program under one build on one device:
// - default and tuned times, the speedup with its 95 % interval
// - GFLOP/s, the share of the measured peak, GFLOP/s of `libraries` (on the screen only those that
//   were measured), the time under IREE's own runtime
// - candidates: how many were tried, verified, wrong, and failed by kind; the most frequent reason
//   (in CSV and JSON)
// - the winner's provider (on the screen if it is not always the compiler)
Result<Table> dispatch_table(store::Store& store, store::Id program, store::Id build,
                             store::Id device, const std::vector<LibraryColumn>& libraries);

// Returns a row per build of the whole program that `run` measured: time, speedup over the default
// flags with its interval, verdict.
Result<Table> program_table(store::Store& store, store::Id program, store::Id run);

// Lists the tried candidates of the dispatches of `program` under `build` on `device`, one row
// each, in the order in which they were proposed: results.csv and results.json. Columns: id (for
// hone show), dispatch, outcome, seconds of a launch, speed-up over the dispatch's default, compile
// seconds, configuration. The default of each dispatch stands first.
Result<Table> candidate_table(store::Store& store, store::Id program, store::Id build,
                              store::Id device);

// Renders that list in the log format of the tuning scripts of 2024: for each dispatch a line for
// its default, one for each candidate, and the default again.
Result<std::string> candidate_log(store::Store& store, store::Id program, store::Id build,
                                  store::Id device);

// Returns a row per phase that took any time, and per stage of compiling. "share" is of the
// session's wall time, or of the compile workers' time.
Table time_table(trial::TimeBudget& time);

// Returns counts per dispatch and the candidates in the order of ranks_before(): a table of the
// first ten, or one JSON document with all. The document is also written to `file`. A default that
// does not compile comes first, the outcome of the run last. `target`: as session::target_json.
Result<std::string> compiled_report(const nlohmann::json& target,
                                    const tune::CompiledProgram& compiled, bool json,
                                    const std::filesystem::path& file);

}  // namespace hone::output
