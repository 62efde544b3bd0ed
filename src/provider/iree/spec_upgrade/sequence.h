// An operation of an old spec in today's form: a matcher, an action, or what they use.
#pragma once

#include "provider/iree/spec_upgrade/configuration.h"
#include "provider/iree/spec_upgrade/spec_file.h"

namespace hone::iree {

// An operation of the spec's module, aliases of IREE's attributes replaced by what they stand for.
UpgradedText upgraded_operation(const SpecFile& file, const SpecOperation& operation);

// An alias's definition, "#iree_gpu.mfma_layout<F16_32x32x8_F32>".
UpgradedText upgraded_alias(const std::string& definition);

// The entry point with the pairs `kept` only, and with the result that today's compiler wants.
UpgradedText upgraded_entry_point(const SpecFile& file, const std::vector<SpecPair>& kept);

}  // namespace hone::iree
