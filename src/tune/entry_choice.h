// Which entries of a spec stay in it.
#pragma once

#include <span>
#include <vector>

#include "measure/comparison.h"

namespace hone::tune {

// Whether to keep each entry. `with_it`: the program with the whole spec beside the one whose spec
// lacks this entry; `whole`: beside the program without a spec. Entries that reliably help are
// kept. Where none does alone, though together they do, the noise hides the parts of a gain that is
// certain: then all are kept but those that reliably hurt.
std::vector<bool> kept_entries(std::span<const measure::Verdict> with_it, measure::Verdict whole);

}  // namespace hone::tune
