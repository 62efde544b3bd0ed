// Results of earlier runs of the same task. A stopped run resumes behind its finished dispatches.
// Other earlier results take part in the proof, unless they are searched again.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tune/dispatch/dispatch_tuner.h"
#include "tune/services/select_dispatches.h"

namespace hone::tune {

// Tunes a dispatch (tune_dispatch) and stores the result with its selection, so that a later run
// need not repeat it. nullopt, and an entry of `not_tuned`, if it cannot be tuned.
Result<std::optional<TunedDispatch>> tune_and_keep(Context& context,
                                                   const problem::Dispatch& dispatch,
                                                   const Turn& turn,
                                                   std::vector<NotTuned>& not_tuned);

// Earlier results by dispatch, of this build and device; `dispatch` of each is null.
struct EarlierWork {
  // Results of the runs after the last finished one, with this budget or a longer one, or those of
  // Options::measured_by alone. They need no further work.
  std::map<store::Id, TunedDispatch> finished;
  // Latest result of any run, whatever its budget. These are searched further if there is time.
  std::map<store::Id, TunedDispatch> found;
};
// Finds the results of runs with the task of `run` on `program`.
Result<EarlierWork> earlier_work(Context& context, const store::Run& run, store::Id program);

// Choice of the flag search, stored so that a resumed run tunes under the same flags.
struct ChosenFlags {
  FlagSet best;                                 // FoundFlags
  std::vector<FlagSet> bases;                   // the same
  std::vector<std::vector<std::string>> tried;  // flags of each trial
};
Status keep_flags(Context& context, const ChosenFlags& chosen);
// Choice kept by the latest of the runs that EarlierWork::finished covers; nullopt if none kept
// one.
Result<std::optional<ChosenFlags>> kept_flags(Context& context, const store::Run& run,
                                              store::Id program);

}  // namespace hone::tune
