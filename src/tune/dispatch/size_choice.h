// One configuration for several sizes, and for several dispatches. A tuning spec sees a dimension
// that the program leaves open as open, and the root of a dispatch without what is fused around it:
// whatever it says of a dispatch holds for every size, and for every dispatch with such a root.
#pragma once

#include <string>
#include <vector>

#include "tune/dispatch/dispatch_tuner.h"

namespace hone::tune {

// One of the dispatches, at one of the sizes.
struct DispatchAtSize {
  TunedDispatch* tuned = nullptr;                // with its winner at this size alone
  const problem::Dispatch* reference = nullptr;  // of an independent compile, if there is one
  std::string where;                             // "M=16", "main_dispatch_3_matmul at M=16"
};

// Verifies and measures each one's winner in all of them, beside the default, and puts the one into
// all that is right everywhere, faster than the default in one and slower in none
// (combined_verdict.h, whose margin is part of the note), and the fastest of these by the geometric
// mean; where there is none, all keep the default. Of more than kMostRivals winners those that
// gained most take part. Spends about `seconds` at each. Errors: those of tune_dispatch.
inline constexpr std::size_t kMostRivals = 6;
Status choose_for_all_sizes(Context& context, const std::vector<DispatchAtSize>& at,
                            double seconds);

}  // namespace hone::tune
