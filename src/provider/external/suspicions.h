// What a kernel of the user's may have done instead of what its manifest says.
#pragma once

#include <vector>

#include "provider/external/dispatch_form.h"
#include "provider/suspicion.h"

namespace hone::external {

// Each operand in every other layout of its dimensions that is another place of some element; the
// result added to what was there; operands behind the sums, or all that is behind them, left out;
// the last terms of the sums left out, by the usual steps along the longest of their loops.
std::vector<provider::Suspicion> suspicions_of(const ExternalKernel& kernel,
                                               const NamedStatement& named);

}  // namespace hone::external
