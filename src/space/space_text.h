// Describes a space in words: its domains, and its constraints without repetition.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "space/space.h"

namespace hone::space {

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
