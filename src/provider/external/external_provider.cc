#include "provider/external/external_provider.h"

#include <nlohmann/json.hpp>

#include "provider/external/dispatch_form.h"

namespace hone::external {

std::string ExternalProvider::why_no_space(const problem::Dispatch& dispatch) const {
  const Result<space::Space> space = space_of(dispatch);
  return space ? std::string() : space.error().message;
}

Result<space::Space> ExternalProvider::space_of(const problem::Dispatch& dispatch) const {
  HONE_ASSIGN(const DispatchForm form, form_of(kernel_, dispatch.contraction));
  space::Names names{{"shared_bytes", shared_bytes_}};
  for (const auto& [name, size] : form.sizes) names.emplace(name, size);
  return provider::manifest_space(
      kernel_, std::move(names), [](const std::string&) { return true; }, dispatch.name);
}

Result<provider::Payload> ExternalProvider::payload_of(
    const problem::Dispatch&, const space::Space& space,
    const space::Configuration& configuration) const {
  provider::Payload payload;
  payload.json["knobs"] = nlohmann::json::object();
  for (std::size_t i = 0; i < space.knobs().size(); ++i)
    payload.json["knobs"][space.knobs()[i].name] = configuration.values[i];
  // What the workers must find when they read the files themselves.
  payload.json["content"] = kernel_.content;
  payload.replacing = name_;
  return payload;
}

}  // namespace hone::external
