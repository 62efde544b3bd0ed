#include "provider/suspicion.h"

#include "base/json_fields.h"

namespace hone::provider {

constexpr auto kSuspicionFields = [](auto& suspicion, auto&& field) {
  field("says", suspicion.says);
  field("statement", suspicion.statement);
  field("adds_to_output", suspicion.adds_to_output);
};

void to_json(nlohmann::json& json, const Suspicion& suspicion) {
  write_fields(json, suspicion, kSuspicionFields);
}

void from_json(const nlohmann::json& json, Suspicion& suspicion) {
  read_fields(json, suspicion, kSuspicionFields);
}

}  // namespace hone::provider
