#include "provider/provider.h"

#include <nlohmann/json.hpp>

namespace hone::provider {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Attributes, lowering_config, translation_info, init_config,
                                   consumer_config)

}  // namespace hone::provider
