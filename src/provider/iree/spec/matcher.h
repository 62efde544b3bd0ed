// The part of a tuning spec that recognises the root operation of an entry (transform dialect, IREE
// 3.13).
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "problem/dispatch.h"
#include "problem/operation.h"

namespace hone::iree {

// The operation that the matcher of a dispatch's root looks for. If the entry configures
// `surrounding` operations too, a softmax is the sum of exponentials, which reads the input and the
// maxima, because IREE splits a softmax before it applies specs. Any other root is returned as it
// is.
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

// IREE's pass that restores the batch loop of a convolution of one image, which the program's
// folding of unit loops removed. The compiler runs it after it has applied specs. The pass makes a
// new operation and silently drops the spec's configuration of the old one.
inline constexpr std::string_view kBatchRestoringPass =
    "iree-codegen-insert-batch-dim-for-batchless-conv";
// Whether `root` is such a convolution in its restored form: its first loop is parallel and has one
// iteration. A spec matches it only after batch_restoring_text().
bool has_restored_batch(const problem::Operation& root);
// The statement of a spec that runs the pass on the function `from`, giving `to` (both any_op).
std::string batch_restoring_text(std::string_view from, std::string_view to);

// Whether one matcher accepts both operations. A matcher sees the root operation and not the
// operations fused around it. For roots other than contractions it sees neither indexing maps nor
// the body. Two such entries cannot be in one spec.
bool same_spec_class(const problem::Operation& a, const problem::Operation& b);

}  // namespace hone::iree
