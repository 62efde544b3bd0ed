// A space in words for people: its domains, and its constraints without anything said twice.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "space/space.h"

namespace hone::space {

// The values in their order, with a run of four or more that follow each other as one range:
// "0, 2..9, 16". Where that makes more than kMostListed entries, only the first and the last of
// them, and how many values there are.
std::string domain_text(std::span<const Value> values);
inline constexpr std::size_t kMostListed = 24;

// The reason with each "{}" replaced by what stands for it in any configuration, an expression:
// "wg_0 must be divisible by sg_0 (wg_0 % sg_0 == 0)". One longer than kMostOfAnArgument characters
// is "...".
std::string reason_text(const Constraint& constraint);
// What stands for it is what `words_of` says of it.
std::string reason_text(const Constraint& constraint,
                        const std::function<std::string(const Expression&)>& words_of);
inline constexpr std::size_t kMostOfAnArgument = 60;

// Constraints of one name, hardness and reason as one rule, unless many words stand between what
// they differ in: they are rules of their own then.
struct Rule {
  std::string name;
  Hardness hardness = Hardness::kHard;
  // The reason once; of one that begins with its name, as a compiler's own words do, without what
  // only a configuration's values would fill. What the constraints differ in, from the first "{}"
  // of the reason to the last, is listed in it: "a tile that leaves a remainder (dist_m into 512;
  // dist_n into 256) is ...".
  std::string text;
  // Positions of the parts of a united space that have it; empty: all, or the space has no parts.
  std::vector<std::size_t> parts;
};

// Those of the space, in the order of their first constraints.
std::vector<Rule> rules_of(const Space& space);

// Name and text as one: a text that begins with the name, as a compiler's own words do, says it
// already.
std::string named(const std::string& name, const std::string& text);

}  // namespace hone::space
