// Likely mistakes of a user's kernel: ways in which it may differ from its manifest.
#pragma once

#include <vector>

#include "provider/external/dispatch_form.h"
#include "provider/suspicion.h"

namespace hone::external {

// Returns a suspicion for: each operand in every other layout of its dimensions that moves some
// element; the result added to the previous content; a skipped epilogue operand, or the whole
// epilogue skipped; the last terms of the sums skipped, by the usual steps along the longest of
// their loops.
std::vector<provider::Suspicion> suspicions_of(const ExternalKernel& kernel,
                                               const NamedStatement& named);

}  // namespace hone::external
