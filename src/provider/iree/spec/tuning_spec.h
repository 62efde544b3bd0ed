// Tuning specs: the file that makes iree-compile use the winners
// (--iree-codegen-tuning-spec-path=FILE for llvm-cpu and ROCm,
// --iree-codegen-transform-dialect-library=FILE for CUDA; IREE 3.13).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "problem/dispatch.h"
#include "provider/iree/spec/matcher.h"

namespace hone::iree {

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
// matcher.h describes how a root is matched. A root whose entry has an init_config matches only if
// a linalg.fill defines its output operand. An entry does nothing if the program is compiled with
// --iree-opt-data-tiling and the root's operands carry encodings. The compiler applies specs before
// it changes the layout, and a configuration for the old layout fails to compile ("failed to build
// pass pipeline").
// Input errors: an entry that no matcher can be written for; no configuration; two entries of one
// spec class (both are named); no entry at all.
Result<std::string> tuning_spec_text(const std::vector<TuningSpecEntry>& entries,
                                     std::string_view header = {});

}  // namespace hone::iree
