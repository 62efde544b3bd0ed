// JSON of a worker process or a store as a value. A process that has run code which nobody has seen
// before may say anything.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "base/result.h"

namespace hone {

// What the text says; discarded (nlohmann's is_discarded) where it is no JSON.
inline nlohmann::json parse_json(const std::string& text) {
  return nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
}

// The T in `json`; a failure whose message goes on from the name of what was read: "cannot be read:
// ...".
template <class T>
Result<T> decode_json(const nlohmann::json& json) {
  try {
    return json.get<T>();
  } catch (const nlohmann::json::exception& error) {
    return failure("cannot be read: {}", error.what());
  }
}

// The T in field `name` of the object `json`.
template <class T>
Result<T> decode_json(const nlohmann::json& json, const char* name) {
  const auto found = json.is_object() ? json.find(name) : json.end();
  if (found == json.end()) return failure("cannot be read: it has no '{}'", name);
  return decode_json<T>(*found);
}

}  // namespace hone
