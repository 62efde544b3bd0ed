// Reads JSON exactly or not at all. It comes from files, stores and processes that may write
// anything, such as one that has run an unknown candidate's code. nlohmann's get<int>() truncates
// 2^32 + 1 to 1 and 2.5 to 2, and converts true to 1.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace hone {

// Throws an exception of nlohmann's, as get<T>() does for a value of the wrong type. Both are then
// caught in one place: where get<T>() is called.
[[noreturn]] inline void refuse_json(const std::string& why) {
  constexpr int kNoNumberOfTheLibrary = 599;
  throw nlohmann::json::other_error::create(kNoNumberOfTheLibrary, why, nullptr);
}

// Decodes `json` into `value`; overloads cover lists, arrays and string-keyed maps of integers.
// Throws if an integer is missing or out of T's range, or if an array has the wrong length.
template <class T>
void exact_to(const nlohmann::json& json, T& value) {
  json.get_to(value);
}

template <std::integral T>
requires(!std::same_as<T, bool>) void exact_to(const nlohmann::json& json, T& value) {
  if (!json.is_number_integer())
    refuse_json("an integer is wanted, not " +
                json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  const bool fits = json.is_number_unsigned() ? std::in_range<T>(json.get<std::uint64_t>())
                                              : std::in_range<T>(json.get<std::int64_t>());
  if (!fits) refuse_json(json.dump() + " is out of range");
  json.get_to(value);
}

template <std::integral T>
void exact_to(const nlohmann::json& json, std::vector<T>& values) {
  if (!json.is_array()) refuse_json("a list is wanted");
  values.clear();
  for (const nlohmann::json& each : json) exact_to(each, values.emplace_back());
}

template <std::integral T, std::size_t N>
void exact_to(const nlohmann::json& json, std::array<T, N>& values) {
  if (!json.is_array() || json.size() != N)
    refuse_json("a list of " + std::to_string(N) + " is wanted");
  for (std::size_t i = 0; i < N; ++i) exact_to(json[i], values[i]);
}

template <std::integral T>
void exact_to(const nlohmann::json& json, std::map<std::string, T>& values) {
  if (!json.is_object()) refuse_json("an object is wanted");
  values.clear();
  for (const auto& [name, each] : json.items()) exact_to(each, values[name]);
}

template <class T>
T exact(const nlohmann::json& json) {
  T value{};
  exact_to(json, value);
  return value;
}

// Returns the value whose name is the string in `json`; throws if no name matches.
template <class E, std::size_t N>
E named(const nlohmann::json& json, const std::pair<E, std::string_view> (&names)[N]) {
  const std::string word = json.get<std::string>();
  for (const auto& [value, name] : names)
    if (name == word) return value;
  refuse_json("'" + word + "' is not known");
}

// Returns the name of `value`; empty if `names` does not contain it.
template <class E, std::size_t N>
std::string_view name_in(const std::pair<E, std::string_view> (&names)[N], E value) {
  for (const auto& [each, name] : names)
    if (each == value) return name;
  return "";
}

inline constexpr std::pair<ErrorKind, std::string_view> kErrorKinds[] = {
    {ErrorKind::kInput, "input"},
    {ErrorKind::kEnvironment, "environment"},
    {ErrorKind::kFailure, "failure"},
    {ErrorKind::kInterrupted, "interrupted"}};

// An error on its way to another process.
inline void to_json(nlohmann::json& json, const Error& error) {
  json = {{"kind", name_in(kErrorKinds, error.kind)}, {"message", error.message}};
}
inline void from_json(const nlohmann::json& json, Error& error) {
  error = {named(json.at("kind"), kErrorKinds), json.at("message").get<std::string>()};
}

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
