// Tuning specs: the file that makes iree-compile use the winners
// (--iree-codegen-tuning-spec-path=FILE for llvm-cpu and ROCm,
// --iree-codegen-transform-dialect-library=FILE for CUDA; IREE 3.13). Their matchers (transform
// dialect), their text, and reading them from files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "problem/dispatch.h"
#include "problem/operation.h"
#include "provider/iree/compiler/library.h"

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

// The configuration of every dispatch whose root operation is `root`.
struct TuningSpecEntry {
  problem::Operation root;
  std::string lowering_config;   // "#iree_cpu.lowering_config<...>"
  std::string translation_info;  // "#iree_codegen.translation_info<...>"
  std::string init_config;       // of the fill the root accumulates into; may be empty
  std::string consumer_config;   // of the linalg.generics that read the root's result; may be empty
  std::string name;              // shown in the spec: "main_dispatch_0_matmul_512x512x512_f32"
  std::string decomposition_config = {};  // of the root's parts (attention); may be empty
  // The lowering_config of the elementwise linalg.generics that read the root's result and have as
  // many loops as the root; may be empty.
  std::string sibling_config = {};
  // Operations around the root, and the lowering_config of each ("" for none).
  std::vector<problem::SurroundingOperation> surrounding = {};
  std::vector<std::string> surrounding_configs = {};
  // Attributes::interchange.
  std::vector<int> interchange = {};
  // Symbols of the functions that may contain the root, which are the dispatches' names; empty:
  // any. A matcher sees an operation and not the readers of its result. IREE numbers dispatches by
  // their place in the program, so such an entry is for this program with these flags.
  std::vector<std::string> functions = {};
};

// The text of the spec: one matcher and one action per entry, in the order given. `header` becomes
// the comment at the top, line by line.
//
// matcher_text() describes how a root is matched. A root whose entry has an init_config matches
// only if a linalg.fill defines its output operand. An entry does nothing if the program is
// compiled with
// --iree-opt-data-tiling and the root's operands carry encodings. The compiler applies specs before
// it changes the layout, and a configuration for the old layout fails to compile ("failed to build
// pass pipeline").
// Input errors: an entry that no matcher can be written for; no configuration; two entries of one
// spec class (both are named); no entry at all.
Result<std::string> tuning_spec_text(const std::vector<TuningSpecEntry>& entries,
                                     std::string_view header = {});

// A pair of the spec's transform.foreach_match: a matcher and the configuration of its matches.
struct ParsedSpecEntry {
  std::string matcher;  // symbol of its named sequence
  int line = 0;         // of the file, where that begins; 0 in bytecode
  // The compilation_info in the matcher or the action, as the compiler prints its parts; empty if
  // there is none.
  std::string lowering_config;
  std::string translation_info;
};

struct ParsedSpec {
  std::vector<ParsedSpecEntry> entries;  // in order; of those that match, the first is applied
  // A spec that configures nothing. Its entry i marks the function of each operation that entry i
  // of the file matches, whatever the others match. The mark is the attribute kMarkPrefix + i. The
  // compiler's own remarks about applied strategies prove neither.
  std::string marking;
};

inline constexpr char kMarkPrefix[] = "hone.entry.";

// Reads a spec (text or bytecode; `path` names it in messages). Input errors: the compiler's words
// ("spec.mlir:3:5: error: ...") when it does not parse or verify; no @__kernel_config, which is
// what the compiler runs, or no entry in it.
Result<ParsedSpec> read_spec_file(const CompilerLibrary& library, const std::string& path,
                                  std::string_view bytes);

// Two tuning specs as one. Links two specs into one text with the entries of both; matches in
// `first` take precedence over matches in `second`. The compiler's own pass
// (iree-codegen-link-tuning-specs) does it, as for a user's spec and the compiler's defaults.
// `first` is the text of one of hone's specs, which has no attribute aliases; the comments at its
// head are kept. `path` names the second in messages. If an entry point does more than one plain
// foreach_match, the compiler runs the specs in turn: there matches in `second` win. Input errors:
// the compiler's words if it cannot read or link the specs.
Result<std::string> link_specs(const CompilerLibrary& library, const std::string& path,
                               std::string_view first, std::string_view second);

}  // namespace hone::iree
