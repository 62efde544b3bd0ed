#include "provider/iree/attributes.h"

#include <nlohmann/json.hpp>

#include "base/exact_json.h"

namespace hone::iree {

void to_json(nlohmann::json& json, const Attributes& attributes) {
  json = {{"lowering_config", attributes.lowering_config},
          {"translation_info", attributes.translation_info},
          {"init_config", attributes.init_config},
          {"consumer_config", attributes.consumer_config}};
  if (!attributes.sibling_config.empty()) {
    json["sibling_reduction_config"] = attributes.sibling_reduction_config;
    json["sibling_config"] = attributes.sibling_config;
  }
  if (!attributes.decomposition_config.empty())
    json["decomposition_config"] = attributes.decomposition_config;
  if (!attributes.neighbour_configs.empty())
    json["neighbour_configs"] = attributes.neighbour_configs;
  if (!attributes.interchange.empty()) json["interchange"] = attributes.interchange;
  if (attributes.statement >= 0) {
    json["statement"] = attributes.statement;
    json["knobs"] = attributes.knobs;
    if (!attributes.options.empty()) json["options"] = attributes.options;
  }
}

void from_json(const nlohmann::json& json, Attributes& attributes) {
  json.at("lowering_config").get_to(attributes.lowering_config);
  json.at("translation_info").get_to(attributes.translation_info);
  json.at("init_config").get_to(attributes.init_config);
  json.at("consumer_config").get_to(attributes.consumer_config);
  attributes.sibling_reduction_config = json.value("sibling_reduction_config", std::string());
  attributes.sibling_config = json.value("sibling_config", std::string());
  attributes.decomposition_config = json.value("decomposition_config", std::string());
  attributes.neighbour_configs = json.value("neighbour_configs", std::vector<std::string>());
  attributes.interchange = exact_or(json, "interchange", std::vector<int>());
  attributes.statement = exact_or(json, "statement", -1);
  attributes.knobs = exact_or(json, "knobs", std::map<std::string, std::int64_t>());
  attributes.options = exact_or(json, "options", std::map<std::string, std::int64_t>());
}

provider::Payload payload_of(const Attributes& attributes) {
  return {nlohmann::json(attributes)};
}

Result<Attributes> attributes_from(const provider::Payload& payload) {
  try {
    return payload.json.get<Attributes>();
  } catch (const nlohmann::json::exception& error) {
    return failure("a configuration for IREE cannot be read: {}", error.what());
  }
}

provider::Payload MadeTexts::to_payload() const {
  provider::Payload more;
  more.json["translation"] = translation;
  more.json["decomposition"] = decomposition;
  return more;
}

Result<MadeTexts> made_texts_from(const provider::Payload& more) {
  try {
    return MadeTexts{more.json.at("translation").get<std::string>(),
                     more.json.at("decomposition").get<std::string>()};
  } catch (const nlohmann::json::exception& error) {
    return failure("what IREE made of a configuration cannot be read: {}", error.what());
  }
}

}  // namespace hone::iree
