// What a tuning came to, read from the store: the closing tables of `hone tune`.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "output/measured_dispatch.h"
#include "output/table.h"
#include "store/store.h"

namespace hone::output {

// One row per dispatch of the program under one build on one device: default and tuned times, the
// speed-up with its 95 % interval, GFLOP/s, share of the measured peak, GFLOP/s of `libraries` (on
// the screen only those that were measured), under IREE's own runtime, how many were tried,
// verified, wrong, and failed by kind, the most frequent reason (in CSV and JSON), who made the
// winner (on the screen where it is not always the compiler).
Result<Table> dispatch_table(store::Store& store, store::Id program, store::Id build,
                             store::Id device, const std::vector<LibraryColumn>& libraries);

// One row per way to build the whole program that `run` measured: time, speed-up over the default
// flags with its interval, verdict, outputs.
Result<Table> program_table(store::Store& store, store::Id program, store::Id run);

}  // namespace hone::output
