#include "space/configuration.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace hone::space {
namespace {

constexpr std::size_t kMostValuesShown = 40;

std::string allowed_values(const Knob& knob) {
  if (knob.range) {
    return fmt::format("allowed is {} to {}", knob.range->first, knob.range->second);
  }
  if (knob.values.size() > kMostValuesShown) {
    const std::vector<Value> first(knob.values.begin(),
                                   knob.values.begin() + std::ptrdiff_t{kMostValuesShown});
    return fmt::format("allowed are {}, ... ({} values)", fmt::join(first, ", "),
                       knob.values.size());
  }
  return fmt::format("allowed are {}", fmt::join(knob.values, ", "));
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

// Collects named values into a configuration.
class Assembly {
 public:
  explicit Assembly(const Space& space) : space_(space), values_(space.knobs().size()) {}

  Status set(std::string_view name, Value value) {
    HONE_ASSIGN(const std::size_t index, space_.knob_index(name));
    if (values_[index]) return input_error("knob '{}' is given twice", name);
    const Knob& knob = space_.knobs()[index];
    if (!contains(knob, value)) {
      return input_error("{} is no value of knob '{}': {}", value, name, allowed_values(knob));
    }
    values_[index] = value;
    return {};
  }

  Result<Configuration> finish() const {
    Configuration configuration;
    std::vector<std::string> missing;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (!values_[i]) missing.push_back(space_.knobs()[i].name);
      configuration.values.push_back(values_[i].value_or(0));
    }
    if (!missing.empty()) {
      return input_error("the configuration has no value for {}: give every knob one, as in {}={}",
                         fmt::join(missing, ", "), missing.front(), example(missing.front()));
    }
    return configuration;
  }

 private:
  std::string example(const std::string& name) const {
    const auto index = space_.knob_index(name);
    const Knob& knob = space_.knobs()[*index];
    if (!knob.values.empty()) return std::to_string(knob.values.front());
    return knob.range ? std::to_string(knob.range->first) : "1";
  }

  const Space& space_;
  std::vector<std::optional<Value>> values_;
};

}  // namespace

Result<Configuration> parse_configuration(const Space& space, std::string_view text) {
  Assembly assembly(space);
  text = trimmed(text);
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view part = trimmed(text.substr(0, comma));
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) {
      return input_error("'{}' in a configuration is not NAME=VALUE", part);
    }
    const std::string_view name = trimmed(part.substr(0, equals));
    const std::string_view digits = trimmed(part.substr(equals + 1));
    Value value = 0;
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (parsed.ec != std::errc{} || parsed.ptr != digits.data() + digits.size()) {
      HONE_TRY(space.knob_index(name));
      return input_error("'{}' is no integer: knob '{}' wants one", digits, name);
    }
    HONE_TRY(assembly.set(name, value));
  }
  return assembly.finish();
}

std::string to_string(const Space& space, const Configuration& configuration) {
  std::string text;
  for (std::size_t i = 0; i < space.knobs().size() && i < configuration.values.size(); ++i) {
    if (i > 0) text += ',';
    text += fmt::format("{}={}", space.knobs()[i].name, configuration.values[i]);
  }
  return text;
}

std::map<std::string, Value> values_by_name(const Space& space,
                                            const Configuration& configuration) {
  std::map<std::string, Value> values;
  for (std::size_t i = 0; i < space.knobs().size(); ++i)
    values[space.knobs()[i].name] = configuration.values[i];
  return values;
}

nlohmann::ordered_json to_json(const Space& space, const Configuration& configuration) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < space.knobs().size() && i < configuration.values.size(); ++i) {
    json[space.knobs()[i].name] = configuration.values[i];
  }
  return json;
}

Result<Configuration> configuration_from_json(const Space& space,
                                              const nlohmann::ordered_json& json) {
  if (!json.is_object()) {
    return input_error("a configuration is a JSON object {{\"knob\": value}}, not {}",
                       json.type_name());
  }
  Assembly assembly(space);
  for (const auto& [name, value] : json.items()) {
    if (!value.is_number_integer()) {
      return input_error("knob '{}' wants an integer, not {}", name, value.dump());
    }
    HONE_TRY(assembly.set(name, value.get<Value>()));
  }
  return assembly.finish();
}

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
