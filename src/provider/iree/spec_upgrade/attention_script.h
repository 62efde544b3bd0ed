// Scripts of 2024 that lowered an attention, as the configuration of the pipeline that replaced
// them.
#pragma once

#include <optional>

#include "provider/iree/spec_upgrade/configuration.h"
#include "provider/iree/spec_upgrade/spec_file.h"

namespace hone::iree {

// An action that had an attention lowered by a transform script of 2024. Where the script is the
// one that IREE's models used, its tiles, intrinsic and subgroups become the configuration of the
// pipeline that replaced it. nullopt: no such action, or a script that does other steps.
std::optional<UpgradedText> configured_attention(const SpecFile& file, const SpecOperation& action);

}  // namespace hone::iree
