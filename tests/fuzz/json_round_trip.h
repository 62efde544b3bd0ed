// A body that is accepted as a T is written as JSON that is accepted as the same T.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "tests/fuzz/fuzz_target.h"

namespace hone::fuzz {

// nlohmann::json reads a number into an integer as a C cast does, which is undefined for a fraction
// beyond the integer's range. On the processors hone runs on that is some other integer, and
// checked as any; the sanitizer would stop at it.
inline bool has_only_castable_numbers(const nlohmann::json& body) {
  if (body.is_number_float()) return std::abs(body.get<double>()) < 2147483647.0;
  if (body.is_structured())
    for (const nlohmann::json& each : body)
      if (!has_only_castable_numbers(each)) return false;
  return true;
}

// The value in `body`; nothing when it is refused, which must be by the library's exception.
template <class T>
std::optional<T> accepted(const nlohmann::json& body) {
  try {
    return body.get<T>();
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

template <class T>
void round_trip(const nlohmann::json& body) {
  const std::optional<T> value = accepted<T>(body);
  if (!value) return;
  const nlohmann::json written = *value;
  const std::optional<T> again = accepted<T>(nlohmann::json::parse(written.dump()));
  require(again.has_value(), "what was read is written so that it can be read");
  require(nlohmann::json(*again) == written, "and read as the same");
}

}  // namespace hone::fuzz
