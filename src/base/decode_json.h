// Decodes JSON from a worker process or a store. The text is untrusted: a process that has run an
// unknown candidate's code may write anything.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "base/result.h"

namespace hone {

// Parses `text`; the result is discarded (nlohmann's is_discarded) if it is not JSON.
inline nlohmann::json parse_json(const std::string& text) {
  return nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
}

// Decodes `json` as a T. The failure's message continues the name of the data: "cannot be read:
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
