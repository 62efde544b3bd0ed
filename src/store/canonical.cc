#include "store/canonical.h"

#include <initializer_list>
#include <nlohmann/json.hpp>

namespace hone::store {
namespace {

std::string dump(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

Result<std::string> canonical_json(std::string_view what, std::string_view text) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_discarded()) return input_error("the {} is not JSON: {}", what, text.substr(0, 200));
  return dump(json);
}

Status check_json(std::string_view what, std::string_view text) {
  if (nlohmann::json::accept(text)) return {};
  return input_error("the {} is not JSON: {}", what, text.substr(0, 200));
}

std::string joined(std::initializer_list<std::string_view> texts) {
  nlohmann::json array = nlohmann::json::array();
  for (const std::string_view text : texts) array.push_back(text);
  return dump(array);
}

}  // namespace hone::store
