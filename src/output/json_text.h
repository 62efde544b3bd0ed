// JSON as hone prints it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

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

}  // namespace hone::output
