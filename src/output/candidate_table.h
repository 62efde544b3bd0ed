// Every candidate of a program that was tried, one row each, in the order in which they were
// proposed: results.csv, results.json and the log that the tuning scripts of 2024 wrote.
#pragma once

#include <string>

#include "base/result.h"
#include "output/table.h"
#include "store/store.h"

namespace hone::output {

// Lists the candidates of the dispatches of `program` under `build` on `device`: id (for hone
// show), dispatch, what became of it, seconds of a launch, speed-up over its dispatch's default,
// compile seconds, configuration. The default of each dispatch stands first.
Result<Table> candidate_table(store::Store& store, store::Id program, store::Id build,
                              store::Id device);

// Writes that list for reading: for each dispatch a line for its default, one for each candidate,
// and its default again.
Result<std::string> candidate_log(store::Store& store, store::Id program, store::Id build,
                                  store::Id device);

}  // namespace hone::output
