// Values of the store as the report's document has them.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace hone::output {

using Json = nlohmann::ordered_json;

// Parses a column of JSON; text that is no JSON stays text.
inline Json parsed(const std::string& text) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  return json.is_discarded() ? Json(text) : json;
}

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

}  // namespace hone::output
