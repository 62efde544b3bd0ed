#include "space/space_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace hone::space {
namespace {

constexpr std::size_t kShortestRange = 4;

// Reason split around its arguments; the middle runs from the first argument to the last.
struct FilledReason {
  std::string before, middle, after;
  std::size_t words_between = 0;  // characters of the reason itself in the middle
};

std::string argument_text(const Expression& argument) {
  std::string text = to_string(argument);
  return text.size() > kMostOfAnArgument ? "..." : text;
}

FilledReason fill(const Constraint& constraint,
                  const std::function<std::string(const Expression&)>& words_of) {
  FilledReason filled;
  std::string_view rest = constraint.reason;
  for (std::size_t used = 0; used < constraint.arguments.size(); ++used) {
    const std::size_t hole = rest.find("{}");
    if (hole == std::string_view::npos) break;
    (used == 0 ? filled.before : filled.middle) += rest.substr(0, hole);
    if (used > 0) filled.words_between += hole;
    filled.middle += words_of(constraint.arguments[used]);
    rest.remove_prefix(hole + 2);
  }
  filled.after = rest;
  return filled;
}

// Returns the words of a rule for a constraint. A compiler's message already names in words the
// quantities whose values follow, so its name suffices.
FilledReason words_of(const Constraint& constraint) {
  const bool only_values =
      constraint.reason.starts_with(constraint.name) &&
      constraint.reason.find("{}", constraint.name.size()) != std::string::npos;
  if (only_values) return {.before = constraint.name, .middle = {}, .after = {}};
  return fill(constraint, argument_text);
}

// Rule under construction.
struct GrowingRule {
  const Constraint* first;
  FilledReason words;  // of the first
  std::vector<std::string> middles;
  std::vector<std::size_t> parts;
};

// Limit above which constraints stay separate: "(dist_m into 512; dist_n into 256)" reads well, two
// whole sentences between semicolons do not.
constexpr std::size_t kMostWordsBetween = 12;

bool belongs_to(const GrowingRule& rule, const Constraint& constraint, const FilledReason& words) {
  const Constraint& first = *rule.first;
  return first.name == constraint.name && first.hardness == constraint.hardness &&
         first.reason == constraint.reason &&
         (words.words_between <= kMostWordsBetween || words.middle == rule.words.middle);
}

template <class T>
void add_once(std::vector<T>& list, T value) {
  if (std::ranges::find(list, value) == list.end()) list.push_back(std::move(value));
}

void add(std::vector<GrowingRule>& rules, const Space& space, std::size_t part) {
  for (const Constraint& constraint : space.constraints()) {
    FilledReason words = words_of(constraint);
    auto rule = std::ranges::find_if(
        rules, [&](const GrowingRule& known) { return belongs_to(known, constraint, words); });
    if (rule == rules.end()) rule = rules.insert(rules.end(), {&constraint, words, {}, {}});
    add_once(rule->middles, std::move(words.middle));
    add_once(rule->parts, part);
  }
}

}  // namespace

std::string domain_text(std::span<const Value> values) {
  std::vector<std::string> entries;
  for (std::size_t i = 0; i < values.size();) {
    std::size_t end = i + 1;
    while (end < values.size() && values[end] == values[end - 1] + 1) ++end;
    if (end - i >= kShortestRange) {
      entries.push_back(fmt::format("{}..{}", values[i], values[end - 1]));
      i = end;
    } else {
      entries.push_back(std::to_string(values[i++]));
    }
  }
  if (entries.size() <= kMostListed) return fmt::format("{}", fmt::join(entries, ", "));
  const auto middle = entries.begin() + static_cast<std::ptrdiff_t>(kMostListed / 2);
  return fmt::format("{}, ..., {} ({} values)", fmt::join(entries.begin(), middle, ", "),
                     entries.back(), values.size());
}

std::string reason_text(const Constraint& constraint) {
  return reason_text(constraint, argument_text);
}

std::string reason_text(const Constraint& constraint,
                        const std::function<std::string(const Expression&)>& words_of) {
  const FilledReason filled = fill(constraint, words_of);
  return filled.before + filled.middle + filled.after;
}

std::vector<Rule> rules_of(const Space& space) {
  std::vector<GrowingRule> growing;
  for (std::size_t part = 0; part < space.parts().size(); ++part)
    add(growing, space.parts()[part], part);
  if (space.parts().empty()) add(growing, space, 0);
  std::vector<Rule> rules;
  for (GrowingRule& rule : growing) {
    const bool everywhere = rule.parts.size() >= space.parts().size();
    rules.push_back(
        {rule.first->name, rule.first->hardness,
         fmt::format("{}{}{}", rule.words.before, fmt::join(rule.middles, "; "), rule.words.after),
         everywhere ? std::vector<std::size_t>() : std::move(rule.parts)});
  }
  return rules;
}

std::string named(const std::string& name, const std::string& text) {
  return text.starts_with(name) ? text : fmt::format("{}: {}", name, text);
}

}  // namespace hone::space
