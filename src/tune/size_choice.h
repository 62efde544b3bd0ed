// One configuration for several sizes. A tuning spec sees a dimension that the program leaves open
// as open: whatever it says of a dispatch holds for every size.
#pragma once

#include <string>
#include <vector>

#include "tune/dispatch_tuner.h"

namespace hone::tune {

// A dispatch at one of the sizes.
struct DispatchAtSize {
  TunedDispatch* tuned = nullptr;                // with the winner at this size alone
  const problem::Dispatch* reference = nullptr;  // of an independent compile, if there is one
  std::string sizes;                             // "M=16"
};

// Verifies and measures each size's winner at all sizes, beside the default, and puts the one into
// all of them that is right everywhere, faster than the default at one size and slower at none, and
// the fastest of these by the geometric mean; where there is none, all keep the default. Spends
// about `seconds` at each size. `progress` is told what is worked on. Errors: those of
// tune_dispatch.
Status choose_for_all_sizes(Context& context, const std::vector<DispatchAtSize>& at,
                            double seconds);

}  // namespace hone::tune
