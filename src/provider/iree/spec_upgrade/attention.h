// Attention in specs of older compilers: matchers of iree_linalg_ext.attention, which the compiler
// has made an online_attention since 2026-04-16 before it applies specs, and scripts that lowered
// it.
#pragma once

#include <optional>
#include <string>

#include "provider/iree/spec_upgrade/configuration.h"
#include "provider/iree/spec_upgrade/spec_file.h"

namespace hone::iree {

// A cast_compatible_dag_from_root whose root is an attention, at token `operation` of `text`, as a
// match of an online_attention. `text` becomes the new statement; `first` and `last` the tokens
// that it replaces. nullopt: the root is another operation.
struct AttentionMatch {
  std::size_t first = 0, last = 0;
  UpgradedText statement;
};
std::optional<AttentionMatch> attention_match(const SpecFile& file, const MlirText& text,
                                              std::size_t operation);

// An action that had an attention lowered by a transform script of 2024. Where the script is the
// one that IREE's models used, its tiles, intrinsic and subgroups become the configuration of the
// pipeline that replaced it. nullopt: no such action, or a script that does other steps.
std::optional<UpgradedText> configured_attention(const SpecFile& file, const SpecOperation& action);

}  // namespace hone::iree
