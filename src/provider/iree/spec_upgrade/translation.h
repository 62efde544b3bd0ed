// The translation_info of an entry: pipeline, workgroup and options.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "provider/iree/spec_upgrade/mlir_text.h"
#include "provider/iree/spec_upgrade/rules.h"

namespace hone::iree {

inline constexpr std::string_view kVectorDistribute = "#iree_gpu.pipeline<VectorDistribute>";

// The parts of a translation_info.
struct Translation {
  std::string pipeline, codegen_spec, workgroup_size, subgroup_size;
  MlirFields options;
  std::set<UpgradeRule> changes;
  std::string problem;  // why it has no form of today; empty if it has one

  std::string to_text() const;
};

// Reads one of any date, "#iree_codegen.translation_info<...>" or "<...>", and upgrades it.
Translation todays_translation(const std::string& text);

}  // namespace hone::iree
