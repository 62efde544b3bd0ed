// A struct's fields as JSON, both ways from one list:
//
//   struct Peak {
//     double gflops = 0;
//     int threads = 1;
//
//     static void fields(auto& peak, auto&& field) {
//       field("gflops", peak.gflops);
//       field.or_default("threads", peak.threads);
//     }
//   };
//
// If a header must not know of JSON, or a struct needs more than a list, the list is a lambda.
// write_fields() and read_fields() take it in the struct's own to_json() and from_json().
//
//   field(key, value)             has to be there; an optional value only where it has one
//   field.or_default(key, value)  is written always, and stays the struct's default where missing
//   field.when(holds, key, value) is written where it holds, and read as or_default
//   field.number(key, value)      a double that may be infinite or NaN: these travel as words; an
//                                 optional one only where it has a value
//   field.number_or_default       both
//   field.text(key, value)        a text that is JSON, and stands as such in the whole
//   field.named(key, value, names)  an enumerator by the name that a table gives it
//   field.list(key, values, fields) a list of structs by their fields; list_if_any: where it has
//   any
//
// A list is a template, since it is instantiated for a struct that is read and one that is written.
// Integers are read as json.h does: whole and in range, or not at all.
#pragma once

#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>

#include "base/json.h"

namespace hone {

// JSON has no infinities and no NaN.
inline nlohmann::json number_to_json(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

// Throws as exact_to does.
inline double number_from_json(const nlohmann::json& json) {
  if (!json.is_string()) return json.get<double>();
  const std::string& word = json.get_ref<const std::string&>();
  char* end = nullptr;
  const double value = std::strtod(word.c_str(), &end);
  if (word.empty() || *end != '\0' || std::isfinite(value))
    refuse_json("'" + word + "' is no number");
  return value;
}

template <class T, class Fields>
void write_fields(nlohmann::json& json, const T& value, const Fields& fields);
template <class T, class Fields>
void read_fields(const nlohmann::json& json, T& value, const Fields& fields);

class FieldWriter {
 public:
  explicit FieldWriter(nlohmann::json& json) : json_(json) {}

  template <class T>
  void operator()(const char* key, const T& value) {
    json_[key] = value;
  }
  template <class T>
  void operator()(const char* key, const std::optional<T>& value) {
    if (value) json_[key] = *value;
  }
  template <class T>
  void or_default(const char* key, const T& value) {
    json_[key] = value;
  }
  template <class T>
  void when(bool holds, const char* key, const T& value) {
    if (holds) json_[key] = value;
  }
  void number(const char* key, double value) { json_[key] = number_to_json(value); }
  void number(const char* key, const std::optional<double>& value) {
    if (value) number(key, *value);
  }
  void number_or_default(const char* key, double value) { number(key, value); }
  void text(const char* key, const std::string& value) {
    json_[key] = nlohmann::json::parse(value);
  }
  template <class E, std::size_t N>
  void named(const char* key, E value, const std::pair<E, std::string_view> (&names)[N]) {
    json_[key] = name_in(names, value);
  }
  template <class T, class Fields>
  void list(const char* key, const std::vector<T>& values, const Fields& fields) {
    nlohmann::json& list = json_[key] = nlohmann::json::array();
    for (const T& value : values) write_fields(list.emplace_back(), value, fields);
  }
  template <class T, class Fields>
  void list_if_any(const char* key, const std::vector<T>& values, const Fields& fields) {
    if (!values.empty()) list(key, values, fields);
  }

 private:
  nlohmann::json& json_;
};

class FieldReader {
 public:
  explicit FieldReader(const nlohmann::json& json) : json_(json) {}

  template <class T>
  void operator()(const char* key, T& value) {
    exact_to(json_.at(key), value);
  }
  template <class T>
  void operator()(const char* key, std::optional<T>& value) {
    if (const auto found = json_.find(key); found != json_.end()) value = exact<T>(*found);
  }
  template <class T>
  void or_default(const char* key, T& value) {
    if (const auto found = json_.find(key); found != json_.end()) exact_to(*found, value);
  }
  template <class T>
  void when(bool, const char* key, T& value) {
    or_default(key, value);
  }
  void number(const char* key, double& value) { value = number_from_json(json_.at(key)); }
  void number(const char* key, std::optional<double>& value) {
    if (const auto found = json_.find(key); found != json_.end()) value = number_from_json(*found);
  }
  void number_or_default(const char* key, double& value) {
    if (json_.contains(key)) number(key, value);
  }
  void text(const char* key, std::string& value) { value = json_.at(key).dump(); }
  template <class E, std::size_t N>
  void named(const char* key, E& value, const std::pair<E, std::string_view> (&names)[N]) {
    value = hone::named(json_.at(key), names);
  }
  template <class T, class Fields>
  void list(const char* key, std::vector<T>& values, const Fields& fields) {
    values.clear();
    for (const nlohmann::json& each : json_.at(key))
      read_fields(each, values.emplace_back(), fields);
  }
  template <class T, class Fields>
  void list_if_any(const char* key, std::vector<T>& values, const Fields& fields) {
    if (json_.contains(key)) list(key, values, fields);
  }

 private:
  const nlohmann::json& json_;
};

template <class T, class Fields>
void write_fields(nlohmann::json& json, const T& value, const Fields& fields) {
  json = nlohmann::json::object();
  fields(value, FieldWriter(json));
}

// Throws the exceptions of nlohmann's get<T>() and of exact_to. Fields that the list does not name
// keep their defaults.
template <class T, class Fields>
void read_fields(const nlohmann::json& json, T& value, const Fields& fields) {
  value = T{};
  fields(value, FieldReader(json));
}

template <class T>
concept HasFields = requires(T& value, FieldReader& field) {
  T::fields(value, field);
};

}  // namespace hone

template <hone::HasFields T>
struct nlohmann::adl_serializer<T, void> {
  static void to_json(json& to, const T& value) {
    hone::write_fields(to, value, [](auto& each, auto&& field) { T::fields(each, field); });
  }
  static void from_json(const json& from, T& value) {
    hone::read_fields(from, value, [](auto& each, auto&& field) { T::fields(each, field); });
  }
};
