// Configurations as text and JSON, and spaces in words.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

// Returns the values in order, with a run of four or more consecutive ones as a range: "0, 2..9,
// 16". Above kMostListed entries, only the first and the last of them, and the number of values.
std::string domain_text(std::span<const Value> values);
inline constexpr std::size_t kMostListed = 24;

// Returns the reason with each "{}" replaced by its argument as an expression: "wg_0 must be
// divisible by sg_0 (wg_0 % sg_0 == 0)". An argument longer than kMostOfAnArgument characters is
// "...".
std::string reason_text(const Constraint& constraint);
// Returns the reason with each "{}" replaced by `words_of` its argument.
std::string reason_text(const Constraint& constraint,
                        const std::function<std::string(const Expression&)>& words_of);
inline constexpr std::size_t kMostOfAnArgument = 60;

// Rule that merges constraints of one name, hardness and reason. Constraints that differ around
// many words are rules of their own.
struct Rule {
  std::string name;
  Hardness hardness = Hardness::kHard;
  // Text of the reason, once. It lists the differences between the constraints, from the first "{}"
  // of the reason to the last: "a tile that leaves a remainder (dist_m into 512; dist_n into 256)
  // is ...". A reason that begins with its name, as a compiler's own words do, omits values of a
  // configuration.
  std::string text;
  // Positions of the parts of a united space that have the rule; empty: all, or the space has no
  // parts.
  std::vector<std::size_t> parts;
};

// Rules of the space, in the order of their first constraints.
std::vector<Rule> rules_of(const Space& space);

// Joins name and text. A text that begins with the name, as a compiler's own words do, stays as it
// is.
std::string named(const std::string& name, const std::string& text);

}  // namespace hone::space
