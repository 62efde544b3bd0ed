// Chooses one configuration for several sizes and dispatches. A tuning spec sees an open dimension
// as open, and the root of a dispatch without its fused operations. A spec entry therefore applies
// to every size, and to every dispatch with such a root.
#pragma once

#include <string>
#include <vector>

#include "tune/dispatch/dispatch_tuner.h"

namespace hone::tune {

// Dispatch at one size.
struct DispatchAtSize {
  TunedDispatch* tuned = nullptr;                // with its winner at this size alone
  const problem::Dispatch* reference = nullptr;  // of an independent compile, if there is one
  std::string where;                             // "M=16", "main_dispatch_3_matmul at M=16"
};

Status choose_for_all_sizes(Context& context, const std::vector<DispatchAtSize>& at,
                            double seconds);

}  // namespace hone::tune
