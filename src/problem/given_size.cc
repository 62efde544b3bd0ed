#include "problem/given_size.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "base/json_fields.h"
#include "problem/check.h"

namespace hone::problem {

namespace {

Result<SizeSet> read_one(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos)
    return input_error("--dim '{}' is not NAME=SIZE, as in --dim M=512", text);
  SizeSet sizes;
  for (std::size_t at = equals; at != std::string::npos;) {
    const std::size_t comma = text.find(',', at + 1);
    const std::string number = text.substr(at + 1, comma - at - 1);
    at = comma;
    GivenSize given{text.substr(0, equals), 0};
    const char* const end = number.data() + number.size();
    const auto [used, error] = std::from_chars(number.data(), end, given.size);
    if (error != std::errc() || used != end || given.size < 1 || given.size > kMostIterations)
      return input_error("--dim {}: '{}' is no size from 1 to {}", text, number, kMostIterations);
    if (std::ranges::find(sizes, given) != sizes.end())
      return input_error("--dim {}: {} is there twice", text, given.size);
    sizes.push_back(std::move(given));
  }
  return sizes;
}

// The name that has another size in each of several sets.
const std::string& several_of(const std::vector<SizeSet>& sets) {
  const auto differs = std::mismatch(sets[0].begin(), sets[0].end(), sets[1].begin());
  return differs.first->name;
}

}  // namespace

Result<std::vector<SizeSet>> given_size_sets(const std::vector<std::string>& texts) {
  std::vector<SizeSet> sets(1);
  for (const std::string& text : texts) {
    HONE_ASSIGN(const SizeSet given, read_one(text));
    const std::string& name = given.front().name;
    for (const GivenSize& other : sets.front())
      if (other.name == name) return input_error("--dim {}: '{}' has a size already", text, name);
    if (given.size() > 1 && sets.size() > 1)
      return input_error("--dim {}: '{}' has several sizes already, and only one name may", text,
                         several_of(sets));
    sets.resize(std::max(sets.size(), given.size()), sets.front());
    for (std::size_t i = 0; i < sets.size(); ++i)
      sets[i].push_back(given[given.size() > 1 ? i : 0]);
  }
  return sets;
}

Result<SizeSet> given_sizes(const std::vector<std::string>& texts) {
  HONE_ASSIGN(std::vector<SizeSet> sets, given_size_sets(texts));
  if (sets.size() > 1)
    return input_error(
        "several sizes of '{}': hone tune takes them, where it measures; run this once for each",
        several_of(sets));
  return std::move(sets.front());
}

std::string to_string(const SizeSet& sizes) {
  std::vector<std::string> words;
  for (const GivenSize& given : sizes)
    words.push_back(fmt::format("{}={}", given.name, given.size));
  return fmt::format("{}", fmt::join(words, ", "));
}

constexpr auto kGivenSizeFields = [](auto& given, auto&& field) {
  field("name", given.name);
  field("size", given.size);
};

void to_json(nlohmann::json& json, const GivenSize& given) {
  write_fields(json, given, kGivenSizeFields);
}

void from_json(const nlohmann::json& json, GivenSize& given) {
  read_fields(json, given, kGivenSizeFields);
}

constexpr auto kGivenShapeFields = [](auto& given, auto&& field) {
  field("argument", given.argument);
  field("shape", given.shape);
  field("text", given.text);
};

constexpr auto kGivenSizesFields = [](auto& given, auto&& field) {
  field("sizes", given.sizes);
  field("function", given.function);
  field.list("shapes", given.shapes, kGivenShapeFields);
};

void to_json(nlohmann::json& json, const GivenSizes& given) {
  write_fields(json, given, kGivenSizesFields);
}

void from_json(const nlohmann::json& json, GivenSizes& given) {
  read_fields(json, given, kGivenSizesFields);
}

}  // namespace hone::problem
