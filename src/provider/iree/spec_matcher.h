// Which operations an entry of a tuning spec is for: the part of the spec that recognises a root
// operation (transform dialect, IREE 3.13).
#pragma once

#include <string>

#include "base/result.h"
#include "problem/operation.h"

namespace hone::iree {

// The operation that matchers see in place of `root`: of a softmax its sum, since IREE takes it
// apart before it applies specs (the sum of exponentials reads the input and the maxima); else
// itself.
problem::Operation when_specs_apply(const problem::Operation& root);

// Input error that says why no matcher can be written: a size known only at run time, a contraction
// of anything but projected permutations, an operation without operands, a softmax.
Status can_match(const problem::Operation& root);

// The operations of a matcher's body that let only roots like `root` (a %root of type any_op)
// through. Contractions are recognised by element types, indexing maps and extents, whatever the
// compiler calls them; everything else by the operation's name, the extents and kinds (reduction or
// not) of its loops and the types of its operands. `root` is one that can_match() accepts.
std::string matcher_text(const problem::Operation& root);

// Whether one matcher lets both through: it sees the root operation, not what is fused around it,
// and of what is no contraction neither indexing maps nor the body. Two such entries cannot both be
// in one spec.
bool same_spec_class(const problem::Operation& a, const problem::Operation& b);

}  // namespace hone::iree
