// Table of a program's tried candidates, one row each, in the order in which they were proposed. It
// is written as results.csv, results.json and the log format of the tuning scripts of 2024.
#pragma once

#include <string>

#include "base/result.h"
#include "output/table.h"
#include "store/store.h"

namespace hone::output {

// Lists the candidates of the dispatches of `program` under `build` on `device`. Columns: id (for
// hone show), dispatch, outcome, seconds of a launch, speed-up over the dispatch's default, compile
// seconds, configuration. The default of each dispatch stands first.
Result<Table> candidate_table(store::Store& store, store::Id program, store::Id build,
                              store::Id device);

// Renders that list as a log: for each dispatch a line for its default, one for each candidate, and
// the default again.
Result<std::string> candidate_log(store::Store& store, store::Id program, store::Id build,
                                  store::Id device);

}  // namespace hone::output
