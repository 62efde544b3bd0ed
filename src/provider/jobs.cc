#include "provider/jobs.h"

#include "base/json_fields.h"

namespace hone::provider::jobs {

constexpr auto kConfiguredDispatchFields = [](auto& dispatch, auto&& field) {
  field("name", dispatch.name);
  field("attributes", dispatch.payload.json);
  field("marks", dispatch.marks);
};

void to_json(nlohmann::json& json, const ConfiguredDispatch& dispatch) {
  write_fields(json, dispatch, kConfiguredDispatchFields);
}

void from_json(const nlohmann::json& json, ConfiguredDispatch& dispatch) {
  read_fields(json, dispatch, kConfiguredDispatchFields);
}

constexpr auto kSpecFileEntryFields = [](auto& entry, auto&& field) {
  field("matcher", entry.matcher);
  field("line", entry.line);
  field("attributes", entry.payload.json);
};

void to_json(nlohmann::json& json, const SpecFileEntry& entry) {
  write_fields(json, entry, kSpecFileEntryFields);
}

void from_json(const nlohmann::json& json, SpecFileEntry& entry) {
  read_fields(json, entry, kSpecFileEntryFields);
}

}  // namespace hone::provider::jobs
