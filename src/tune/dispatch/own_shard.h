// The dispatches of this process, where several share a tuning (plan/shards.h), and the file that
// tells others how far it is.
#pragma once

#include <cstddef>
#include <vector>

#include "plan/work_plan.h"
#include "tune/dispatch/dispatch_tuner.h"
#include "tune/services/context.h"

namespace hone::tune {

struct OwnShard {
  std::vector<std::size_t> places;  // of the dispatches, ascending
  // Share (0 to 1) of the budget that the longest shard is expected to take. Every shard has that
  // much: the others would only wait for it, and estimates may be far off.
  double share = 0;
};

// Divides `dispatches` by the time that a run of the whole budget would deal to each, by estimates
// alone. Equal dispatches stay together: they share their results. `weights`: of each. Adds the own
// ones to the state's progress and writes it beside the store (plan::progress_file). Requires that
// Options::part is a shard.
Result<OwnShard> own_shard(Context& context,
                           const std::vector<const problem::Dispatch*>& dispatches,
                           const std::vector<plan::Weight>& weights);

// Writes that a dispatch is done, to the same file. `failure`: why it could not be tuned; empty if
// it was. Does nothing unless Options::part is a shard.
Status tell_done(Context& context, const problem::Dispatch& dispatch, const TunedDispatch* tuned,
                 const std::string& failure);

}  // namespace hone::tune
