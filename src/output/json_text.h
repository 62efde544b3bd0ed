// JSON as hone prints it, and values of the store in it.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/file.h"

namespace hone::output {

// Value of "schema_version" in the documents of --json. Raise it when a key changes its name or
// meaning.
inline constexpr int kSchemaVersion = 1;

// Renders JSON indented by two. Bytes that are not UTF-8 (a compiler's or a dying kernel's last
// words hold any) become U+FFFD; nlohmann::json would throw.
template <class Json>
std::string json_text(const Json& json) {
  return json.dump(2, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

// Prints JSON to stdout, as --json does, or writes it to a file.
template <class Json>
void print_json(const Json& json) {
  fmt::print("{}\n", json_text(json));
}
template <class Json>
Status write_json(const std::filesystem::path& file, const Json& json) {
  return write_file_atomically(file, json_text(json) + "\n");
}
// Prints an object with its "schema_version".
inline void print_document(nlohmann::json document) {
  document["schema_version"] = kSchemaVersion;
  print_json(document);
}

using Json = nlohmann::ordered_json;

// Parses a column of JSON; text that is no JSON stays text.
inline Json parsed(const std::string& text) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  return json.is_discarded() ? Json(text) : json;
}

inline Json text_or_null(const std::string& text) {
  return text.empty() ? Json() : Json(text);
}

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

}  // namespace hone::output
