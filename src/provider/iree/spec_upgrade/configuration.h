// The configuration that a spec's entry gives to the operation that it matches, in today's form.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "provider/iree/spec_upgrade/matched_loops.h"
#include "provider/iree/spec_upgrade/rules.h"

namespace hone::iree {

// A text of an older compiler in today's form, or the reason why it has none.
struct UpgradedText {
  std::string text;  // as it was if nothing changed
  std::set<UpgradeRule> changes;
  std::string problem;  // why it has no form of today; empty if it has one

  void fail(std::string reason) {
    if (problem.empty()) problem = std::move(reason);
  }
};

// "#iree_gpu.mma_layout<MFMA_F16_16x16x16_F32>" and other layouts of matrix instructions.
UpgradedText upgraded_layout(const std::string& text);

// "#iree_codegen.translation_info<...>", or "<...>" inside a compilation_info.
UpgradedText upgraded_translation(const std::string& text);

// Tiles of a root, by which its parts are configured, and the root by them.
struct RootTiles {
  std::vector<long> workgroup, reduction;
  // How many subgroups of the workgroup repeated the work of one. The compilers until 2025-09-08
  // used only as many as divide the tiles.
  long repeats = 1;
};
// The tiles of the compilation_info in `text`; empty ones if there is none in the form since
// 2024-09-27.
RootTiles root_tiles(const MlirText& text);

// "{qk_attrs = {...}, pv_attrs = {...}}", the configurations of an attention's products. Sets
// `tiles.repeats`.
UpgradedText upgraded_decomposition(const std::string& text, RootTiles& tiles);

// "#iree_codegen.compilation_info<...>" of an operation with `loops` (nullopt: unknown), without
// the subgroups that repeat others' work.
UpgradedText upgraded_compilation_info(const std::string& text,
                                       const std::optional<MatchedLoops>& loops, long repeats);

}  // namespace hone::iree
