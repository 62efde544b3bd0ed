#include "provider/external/external_provider.h"

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "provider/external/dispatch_form.h"
#include "provider/external/suspicions.h"
#include "space/configuration.h"

namespace hone::external {

std::string ExternalProvider::why_no_space(const problem::Dispatch& dispatch) const {
  const Result<space::Space> space = space_of(dispatch);
  return space ? std::string() : space.error().message;
}

Result<space::Space> ExternalProvider::space_of(const problem::Dispatch& dispatch) const {
  HONE_ASSIGN(const problem::Statement* const stated, problem::stated(dispatch.statement));
  HONE_ASSIGN(const NamedStatement named, named_statement(kernel_, *stated));
  space::Names names{{"shared_bytes", shared_bytes_}};
  for (const auto& [name, size] : named.form.sizes) names.emplace(name, size);
  return provider::manifest_space(
      kernel_, std::move(names), [](const std::string&) { return true; }, dispatch.name);
}

Result<provider::Payload> ExternalProvider::payload_of(
    const problem::Dispatch&, const space::Space& space,
    const space::Configuration& configuration) const {
  provider::Payload payload;
  payload.json["knobs"] = space::values_by_name(space, configuration);
  // Hash that workers check when they read the files themselves.
  payload.json["content"] = kernel_.content;
  payload.replacing = name_;
  return payload;
}

std::vector<provider::Suspicion> ExternalProvider::suspicions(
    const problem::Dispatch& dispatch) const {
  if (!dispatch.statement) return {};
  const auto named = named_statement(kernel_, *dispatch.statement);
  return named ? suspicions_of(kernel_, *named) : std::vector<provider::Suspicion>();
}

std::function<double(const space::Configuration&)> ExternalProvider::prior(
    const problem::Dispatch&, const space::Space& space) const {
  struct Values {
    std::vector<space::Value> all;
    std::ptrdiff_t at_default = 0;
  };
  const auto place = [](const std::vector<space::Value>& values, space::Value value) {
    return std::ranges::find(values, value) - values.begin();
  };
  std::vector<Values> knobs;
  for (const space::Knob& knob : space.knobs())
    for (const provider::KernelManifest::Knob& stated : kernel_.knobs)
      if (stated.name == knob.name)
        knobs.push_back({stated.values, place(stated.values, kernel_.defaults.at(knob.name))});
  if (knobs.size() != space.knobs().size()) return {};
  return [knobs = std::move(knobs), place](const space::Configuration& configuration) {
    std::ptrdiff_t steps = 0;
    for (std::size_t i = 0; i < knobs.size(); ++i)
      steps += std::abs(place(knobs[i].all, configuration.values[i]) - knobs[i].at_default);
    return static_cast<double>(steps);
  };
}

}  // namespace hone::external
