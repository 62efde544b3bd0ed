// Attention that a program states as separate operations: a product of queries and keys, a softmax
// along the keys, and a product with the values. As one operation the compiler makes one dispatch
// of it, which a kernel can replace, and no score goes through memory.
#pragma once

#include "problem/dispatch.h"
#include "provider/iree/compiler/compiler_session.h"

namespace hone::iree {

// Looks for such operations in a program at the end of phase `preprocessing`, in which transform
// specs run last. Scores may be scaled by a constant and have one mask added, and be converted in
// between; nothing else may read them. Sizes must be known. Regions of equal operations count as
// one. The spec replaces each region by iree_linalg_ext.attention, whose scores and weights are
// f32: what the program rounds in between stays unrounded. Failures with the compiler's words.
Result<problem::Regions> attention_regions(const CompilerSession& session, MlirOperation module);

}  // namespace hone::iree
