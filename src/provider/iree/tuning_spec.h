// Tuning specs: the file that makes iree-compile use the winners
// (--iree-codegen-tuning-spec-path=FILE, llvm-cpu and ROCm; IREE 3.13).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "problem/operation.h"

namespace hone::iree {

// The configuration of every dispatch whose root operation is `root`.
struct SpecEntry {
  problem::Operation root;
  std::string lowering_config;   // "#iree_cpu.lowering_config<...>"
  std::string translation_info;  // "#iree_codegen.translation_info<...>"
  std::string init_config;       // of the fill the root accumulates into; may be empty
  std::string consumer_config;   // of the linalg.generics that read the root's result; may be empty
  std::string name;              // shown in the spec: "main_dispatch_0_matmul_512x512x512_f32"
};

// Whether one matcher matches both: a spec sees the root operation (element types, indexing maps,
// extents), not what is fused around it. Two such entries cannot both be in one spec.
bool same_spec_class(const problem::Operation& a, const problem::Operation& b);

// The text of the spec: one matcher and one action per entry, in the order given. `header` becomes
// the comment at the top, line by line.
//
// A root is matched by element types, indexing maps and extents; an entry with an init_config only
// when its output operand is defined by a linalg.fill. Where the program is compiled with
// --iree-opt-data-tiling and the root's operands carry encodings, the entry does nothing: the
// compiler applies specs before it lays the data out anew, and a configuration for the old layout
// fails to compile ("failed to build pass pipeline").
// Input errors: an entry that is no static contraction of projected permutations; no
// configuration; two entries of one spec class (both are named); no entry at all.
Result<std::string> tuning_spec_text(const std::vector<SpecEntry>& entries,
                                     std::string_view header = {});

}  // namespace hone::iree
