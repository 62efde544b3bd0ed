#include "provider/artifact.h"

#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "base/text.h"

namespace hone::provider {
namespace {

constexpr std::pair<FailureKind, std::string_view> kFailureKinds[] = {
    {FailureKind::kCompileError, "compile error"},
    {FailureKind::kCompileCrash, "compile crash"},
    {FailureKind::kCompileTimeout, "compile timeout"},
    {FailureKind::kCompileMemory, "compile memory"},
    {FailureKind::kNotApplied, "not applied"},
    {FailureKind::kLoadError, "load error"},
    {FailureKind::kKernelCrash, "kernel crash"},
    {FailureKind::kKernelTimeout, "kernel timeout"},
    {FailureKind::kWrong, "wrong"},
};

}  // namespace

std::string_view name_of(FailureKind kind) {
  for (const auto& [value, name] : kFailureKinds)
    if (value == kind) return name;
  return "compile error";
}

Result<FailureKind> failure_kind_from(std::string_view name) {
  for (const auto& [value, known] : kFailureKinds)
    if (known == name) return value;
  return input_error("'{}' is no kind of failure", name);
}

void to_json(nlohmann::json& json, const Launch& launch) {
  json = {{"entry", launch.entry},
          {"ordinal", launch.ordinal},
          {"grid", launch.grid},
          {"block", launch.block},
          {"shared_bytes", launch.shared_bytes},
          {"constants", launch.constants}};
}

void from_json(const nlohmann::json& json, Launch& launch) {
  json.at("entry").get_to(launch.entry);
  json.at("ordinal").get_to(launch.ordinal);
  json.at("grid").get_to(launch.grid);
  json.at("block").get_to(launch.block);
  json.at("shared_bytes").get_to(launch.shared_bytes);
  json.at("constants").get_to(launch.constants);
}

}  // namespace hone::provider
