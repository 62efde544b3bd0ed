// What runs of the same command have finished that did not come to their end: the next one goes on
// behind it.
#pragma once

#include <map>
#include <string>

#include "tune/dispatch_tuner.h"

namespace hone::tune {

// Keeps what came of a dispatch, so that a run which is stopped later need not tune it again. Its
// selection is recorded with it.
Status keep_finished(Context& context, TunedDispatch& tuned);

// By dispatch, of this build and device: what was kept by the runs of `command` on `program` since
// the last one that came to its end. `dispatch` of each is null.
Result<std::map<store::Id, TunedDispatch>> finished_work(Context& context,
                                                         const std::string& command,
                                                         store::Id program);

}  // namespace hone::tune
