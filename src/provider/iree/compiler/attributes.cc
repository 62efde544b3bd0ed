#include "provider/iree/compiler/attributes.h"

#include <nlohmann/json.hpp>

#include "base/json_fields.h"

namespace hone::iree {

namespace {

constexpr auto kAttributesFields = [](auto& attributes, auto&& field) {
  const bool has_siblings = !attributes.sibling_config.empty(),
             is_stated = attributes.statement >= 0;
  field("lowering_config", attributes.lowering_config);
  field("translation_info", attributes.translation_info);
  field("init_config", attributes.init_config);
  field("consumer_config", attributes.consumer_config);
  field.when(has_siblings, "sibling_reduction_config", attributes.sibling_reduction_config);
  field.when(has_siblings, "sibling_config", attributes.sibling_config);
  field.when(!attributes.decomposition_config.empty(), "decomposition_config",
             attributes.decomposition_config);
  field.when(!attributes.surrounding_configs.empty(), "neighbour_configs",
             attributes.surrounding_configs);
  field.when(!attributes.interchange.empty(), "interchange", attributes.interchange);
  field.when(is_stated, "statement", attributes.statement);
  field.when(is_stated, "knobs", attributes.knobs);
  field.when(is_stated && !attributes.options.empty(), "options", attributes.options);
};

}  // namespace

void to_json(nlohmann::json& json, const Attributes& attributes) {
  write_fields(json, attributes, kAttributesFields);
}

void from_json(const nlohmann::json& json, Attributes& attributes) {
  read_fields(json, attributes, kAttributesFields);
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
    return failure("IREE's attributes of a configuration cannot be read: {}", error.what());
  }
}

}  // namespace hone::iree
