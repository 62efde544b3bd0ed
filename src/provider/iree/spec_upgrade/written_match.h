// Matchers that have the wanted operation written out (cast_compatible_dag_from_root), for
// operations that reach specs in another form today.
#pragma once

#include <optional>
#include <string>

#include "provider/iree/spec_upgrade/configuration.h"
#include "provider/iree/spec_upgrade/spec_file.h"

namespace hone::iree {

// The statement that replaces tokens [first, last) of the matcher's text.
struct WrittenMatch {
  std::size_t first = 0, last = 0;
  UpgradedText statement;
};
// Upgrades the cast_compatible_dag_from_root at token `operation` of `text`. Its root may be:
// - an attention, which the compiler makes an online_attention before it applies specs since
//   2026-04-16;
// - a named convolution or matrix product, which it makes a linalg.generic since 2025-04-01 and
//   2025-08-21.
// nullopt: another root.
std::optional<WrittenMatch> upgraded_match(const SpecFile& file, const MlirText& text,
                                           std::size_t operation);
// Whether the compiler makes the operation a linalg.generic before it applies specs.
bool is_generalized(std::string_view operation);

}  // namespace hone::iree
