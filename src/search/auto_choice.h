// Which strategy suits a search.
#pragma once

#include <string>
#include <string_view>

#include "space/space.h"

namespace hone::search {

struct Situation {
  space::Count count;          // of the space
  std::size_t candidates = 0;  // that may be tried, by what the user allows and the time
  bool has_prior = false;
  // Proposals compile while earlier ones are measured, so many are proposed before any score is
  // known.
  bool compiles_ahead = false;
};

struct Choice {
  std::string_view strategy;
  std::string why;  // "600 configurations, of which about 900 can be tried"
};

// "exhaustive" for a space of at most kTryAll configurations that can all be tried. "prior" (or
// "random" without a prior) if fewer can be tried than a model's first sample. "local" if proposals
// compile ahead, else "model". docs/search.md has the reasons.
inline constexpr std::uint64_t kTryAll = 32;
Choice choose_strategy(const Situation& situation);

}  // namespace hone::search
