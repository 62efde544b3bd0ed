#include "provider/iree/gpu/space.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "provider/iree/gpu/own_space.h"
#include "provider/iree/gpu/stated_knobs.h"
#include "provider/iree/gpu/stated_space.h"

namespace hone::iree {
namespace {

Result<StatedSpace> read_statement(const problem::Dispatch& dispatch) {
  try {
    return nlohmann::json::parse(dispatch.stated_constraints).get<StatedSpace>();
  } catch (const nlohmann::json::exception& error) {
    return failure("the compiler's constraints of '{}' cannot be read: {}", dispatch.name,
                   error.what());
  }
}

}  // namespace

Result<space::Space> gpu_space(const problem::Dispatch& dispatch, const problem::GpuTarget& target,
                               std::string_view audited) {
  if (const std::string reason = why_no_gpu_space(dispatch, target); !reason.empty())
    return input_error("'{}' cannot be tuned: {}", dispatch.name, reason);
  if (dispatch.stated_constraints.empty()) {
    if (!audited.empty())
      return input_error(
          "'{}' has a space of hone's own: only rules added to the compiler's can be "
          "audited",
          dispatch.name);
    return gpu_own_space(dispatch.root, target);
  }
  HONE_ASSIGN(const StatedSpace stated, read_statement(dispatch));
  return space_of(stated, dispatch.root, target, audited);
}

Result<space::Space> compiler_space(const problem::Dispatch& dispatch) {
  if (dispatch.stated_constraints.empty())
    return input_error("the compiler states no constraints for '{}': its space is hone's own",
                       dispatch.name);
  HONE_ASSIGN(const StatedSpace stated, read_statement(dispatch));
  return compiler_space_of(stated);
}

std::string why_no_gpu_space(const problem::Dispatch& dispatch, const problem::GpuTarget& target) {
  if (!dispatch.stated_constraints.empty()) return {};
  return why_no_own_space(dispatch.root, target);
}

std::vector<std::string> pipeline_names(const space::Space& space) {
  std::vector<std::string> names;
  if (space.parts().empty() || space.knobs().front().name != kPipelineKnob) return names;
  // "0: TileAndFuse, 1: VectorDistribute"
  std::string_view left = space.knobs().front().description;
  while (!left.empty()) {
    const std::size_t end = std::min(left.find(", "), left.size());
    const std::string_view each = left.substr(0, end);
    const std::size_t colon = each.find(": ");
    names.emplace_back(colon == std::string_view::npos ? each : each.substr(colon + 2));
    left.remove_prefix(std::min(end + 2, left.size()));
  }
  return names;
}

Result<Attributes> gpu_attributes(const problem::Dispatch& dispatch,
                                  const problem::GpuTarget& target, const space::Space& space,
                                  const space::Configuration& configuration) {
  if (dispatch.stated_constraints.empty())
    return gpu_own_attributes(dispatch.root, target, space, configuration);
  Attributes attributes;
  HONE_ASSIGN(const space::Value statement, space.value(configuration, kPipelineKnob));
  if (statement < 0 || statement >= std::ssize(space.parts()))
    return input_error("{} = {} is none of the compiler's statements", kPipelineKnob, statement);
  attributes.statement = static_cast<int>(statement);
  for (const space::Knob& knob : space.parts()[static_cast<std::size_t>(statement)].knobs()) {
    auto& place = is_own_knob(knob.name) ? attributes.options : attributes.knobs;
    HONE_ASSIGN(place[knob.name], space.value(configuration, knob.name));
  }
  return attributes;
}

}  // namespace hone::iree
