// Which operations an entry of a tuning spec is for: the part of the spec that recognises a root
// operation (transform dialect, IREE 3.13).
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "problem/dispatch.h"
#include "problem/operation.h"

namespace hone::iree {

// The operation that matchers see in place of `root`: of a softmax its sum, since IREE takes it
// apart before it applies specs (the sum of exponentials reads the input and the maxima); else
// itself.
problem::Operation when_specs_apply(const problem::Operation& root);

// What the matcher of a dispatch's root looks for: where the operations around it are configured
// too, that which is there when specs are applied.
problem::Operation matched_root(const problem::Operation& root,
                                const std::vector<problem::SurroundingOperation>& surrounding);

// Input error that says why no matcher can be written: a size known only at run time, a contraction
// of anything but projected permutations, an operation without operands, a softmax.
Status can_match(const problem::Operation& root);

// The operations of a matcher's body that let only roots like `root` (a %root of type any_op)
// through. Contractions are recognised by element types, indexing maps and extents, whatever the
// compiler calls them; everything else by the operation's name, the extents and kinds (reduction or
// not) of its loops and the types of its operands. `root` is one that can_match() accepts.
std::string matcher_text(const problem::Operation& root);

// IREE's pass that gives a convolution of one image the batch loop back that the program's folding
// of unit loops took. The compiler runs it after it has applied specs, makes a new operation, and
// so drops what a spec put on the old one without a word.
inline constexpr std::string_view kBatchRestoringPass =
    "iree-codegen-insert-batch-dim-for-batchless-conv";
// Whether `root` is such a convolution in its restored form: its first loop is parallel and of one
// iteration. A spec matches it only after batch_restoring_text().
bool has_restored_batch(const problem::Operation& root);
// The statement of a spec that runs the pass on the function `from`, giving `to` (both any_op).
std::string batch_restoring_text(std::string_view from, std::string_view to);

// Whether one matcher lets both through: it sees the root operation, not what is fused around it,
// and of what is no contraction neither indexing maps nor the body. Two such entries cannot both be
// in one spec.
bool same_spec_class(const problem::Operation& a, const problem::Operation& b);

}  // namespace hone::iree
