#include "provider/jobs.h"

#include <nlohmann/json.hpp>

namespace hone::provider::jobs {

void to_json(nlohmann::json& json, const ConfiguredDispatch& dispatch) {
  json = {
      {"name", dispatch.name}, {"attributes", dispatch.payload.json}, {"marks", dispatch.marks}};
}

void from_json(const nlohmann::json& json, ConfiguredDispatch& dispatch) {
  json.at("name").get_to(dispatch.name);
  dispatch.payload.json = json.at("attributes");
  json.at("marks").get_to(dispatch.marks);
}

void to_json(nlohmann::json& json, const SpecFileEntry& entry) {
  json = {{"matcher", entry.matcher}, {"line", entry.line}, {"attributes", entry.payload.json}};
}

void from_json(const nlohmann::json& json, SpecFileEntry& entry) {
  json.at("matcher").get_to(entry.matcher);
  json.at("line").get_to(entry.line);
  entry.payload.json = json.at("attributes");
}

}  // namespace hone::provider::jobs
