#include "problem/given_size.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "problem/check.h"

namespace hone::problem {

Result<std::vector<GivenSize>> given_sizes(const std::vector<std::string>& texts) {
  std::vector<GivenSize> sizes;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos)
      return input_error("--dim '{}' is not NAME=SIZE, as in --dim M=512", text);
    GivenSize given{text.substr(0, equals), 0};
    const std::string_view number = std::string_view(text).substr(equals + 1);
    if (number.find(',') != std::string_view::npos)
      return input_error(
          "--dim {}: one run is for one size of '{}'; run hone once for each, with the same "
          "--store",
          text, given.name);
    const char* const end = number.data() + number.size();
    const auto [used, error] = std::from_chars(number.data(), end, given.size);
    if (error != std::errc() || used != end || given.size < 1 || given.size > kMostIterations)
      return input_error("--dim {}: '{}' is no size from 1 to {}", text, number, kMostIterations);
    if (std::any_of(sizes.begin(), sizes.end(),
                    [&](const GivenSize& other) { return other.name == given.name; }))
      return input_error("--dim {}: '{}' has a size already", text, given.name);
    sizes.push_back(std::move(given));
  }
  return sizes;
}

void to_json(nlohmann::json& json, const GivenSize& given) {
  json = {{"name", given.name}, {"size", given.size}};
}

void from_json(const nlohmann::json& json, GivenSize& given) {
  json.at("name").get_to(given.name);
  json.at("size").get_to(given.size);
}

}  // namespace hone::problem
