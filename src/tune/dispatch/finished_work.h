// What runs of the same command have finished that did not come to their end: the next one goes on
// behind it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tune/dispatch/dispatch_tuner.h"
#include "tune/services/select_dispatches.h"

namespace hone::tune {

// Tunes a dispatch (tune_dispatch) and keeps what came of it, with its selection, so that a run
// which is stopped later need not tune it again. Nothing, and an entry of `not_tuned`, where it
// cannot be tuned.
Result<std::optional<TunedDispatch>> tune_and_keep(Context& context,
                                                   const problem::Dispatch& dispatch,
                                                   const problem::Dispatch* reference,
                                                   const Share& share,
                                                   std::vector<NotTuned>& not_tuned,
                                                   const measure::ProblemRequest* next = nullptr);

// By dispatch, of this build and device: what was kept by the runs of `command` on `program` since
// the last one that came to its end, with this budget or a longer one. `dispatch` of each is null.
Result<std::map<store::Id, TunedDispatch>> finished_work(Context& context,
                                                         const std::string& command,
                                                         store::Id program);

// What the search of flags chose, so that what is tuned under it is found again.
struct ChosenFlags {
  FlagSet best;                                 // FoundFlags
  std::vector<FlagSet> bases;                   // the same
  std::vector<std::vector<std::string>> tried;  // flags of each trial
};
Status keep_flags(Context& context, const ChosenFlags& chosen);
// What the runs that finished_work() looks at kept; nothing where none did.
Result<std::optional<ChosenFlags>> kept_flags(Context& context, const std::string& command,
                                              store::Id program);

}  // namespace hone::tune
