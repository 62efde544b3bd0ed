// Configurations as text and JSON.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/result.h"
#include "space/space.h"

namespace hone::space {

// Reads "tile_m=64,tile_n=32", in any order, blanks ignored. Input errors: not name=value, an
// unknown knob (nearest names), a value not in the knob's domain (the allowed ones), a knob given
// twice or missing. Space::check tests the constraints.
Result<Configuration> parse_configuration(const Space& space, std::string_view text);

// "tile_m=64,tile_n=32", in the order of the knobs; parse_configuration reads it.
std::string to_string(const Space& space, const Configuration& configuration);

// The knobs' values by their names.
std::map<std::string, Value> values_by_name(const Space& space, const Configuration& configuration);

// {"tile_m": 64, "tile_n": 32}, and back with the errors of parse_configuration.
nlohmann::ordered_json to_json(const Space& space, const Configuration& configuration);
Result<Configuration> configuration_from_json(const Space& space,
                                              const nlohmann::ordered_json& json);

}  // namespace hone::space
