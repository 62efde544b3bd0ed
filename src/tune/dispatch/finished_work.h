// What runs of the same task have done before: one that was stopped is gone on with behind what
// it finished, and what any of them found takes part in the proof unless it is searched again.
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

// By dispatch, of this build and device; `dispatch` of each is null.
struct EarlierWork {
  // By the runs since the last one that came to its end, with this budget or a longer one. There is
  // nothing to be done about these.
  std::map<store::Id, TunedDispatch> finished;
  // The last word of any run, whatever time it had. With time these are searched further.
  std::map<store::Id, TunedDispatch> found;
};
// Of the runs of the task of `run` on `program`.
Result<EarlierWork> earlier_work(Context& context, const store::Run& run, store::Id program);

// What the search of flags chose, so that what is tuned under it is found again.
struct ChosenFlags {
  FlagSet best;                                 // FoundFlags
  std::vector<FlagSet> bases;                   // the same
  std::vector<std::vector<std::string>> tried;  // flags of each trial
};
Status keep_flags(Context& context, const ChosenFlags& chosen);
// What the runs that EarlierWork::finished is of kept; nothing where none did.
Result<std::optional<ChosenFlags>> kept_flags(Context& context, const store::Run& run,
                                              store::Id program);

}  // namespace hone::tune
