#include "space/configuration.h"

#include <charconv>
#include <optional>
#include <utility>
#include <vector>

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

}  // namespace hone::space
