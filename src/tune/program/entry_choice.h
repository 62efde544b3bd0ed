// Which entries of a spec stay in it.
#pragma once

#include <span>
#include <vector>

#include "measure/comparison.h"

namespace hone::tune {

// Whether to keep each entry, or group of entries. `with_it`: the program with the whole spec
// beside the one whose spec lacks it; `whole`: beside the program without a spec. Where the spec
// helps, all are kept but those that reliably hurt: each was faster alone, and the noise of a
// program hides small parts of a gain. So where it seems to help, by 2 % or more, and these rounds
// cannot tell: the proof's rounds will. Where it does not, those that reliably help.
std::vector<bool> kept_entries(std::span<const measure::Verdict> with_it,
                               const measure::PairedComparison& whole);

// The places of `count` entries, in order, in at most `most` groups of nearly equal size.
std::vector<std::vector<std::size_t>> groups_of(std::size_t count, std::size_t most);

}  // namespace hone::tune
