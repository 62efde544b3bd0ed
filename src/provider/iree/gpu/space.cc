#include "provider/iree/gpu/space.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/ranges.h"
#include "provider/iree/gpu/space_parts.h"
#include "provider/iree/gpu/stated_additions.h"
#include "provider/iree/gpu/stated_space.h"

namespace hone::iree {
namespace {

using problem::ElementType;

struct InstructionRow {
  std::string_view arch;  // of which names begin so
  ElementType input, output;
  MatrixInstruction instruction;
};

const std::vector<InstructionRow>& known() {
  using enum ElementType;
  static const std::vector<InstructionRow> kAll = {
      {"sm_", kF16, kF32, {"NV_MMA_SYNC_F32_16x8x16_F16", 16, 8, 16}},
      {"sm_", kF16, kF16, {"NV_MMA_SYNC_F16_16x8x16_F16", 16, 8, 16}},
      {"sm_", kBF16, kF32, {"NV_MMA_SYNC_F32_16x8x16_BF16", 16, 8, 16}},
      {"gfx942", kF16, kF32, {"MFMA_F32_16x16x16_F16", 16, 16, 16}},
      {"gfx942", kF16, kF32, {"MFMA_F32_32x32x8_F16", 32, 32, 8}},
      {"gfx942", kBF16, kF32, {"MFMA_F32_16x16x16_BF16", 16, 16, 16}},
      {"gfx942", kBF16, kF32, {"MFMA_F32_32x32x8_BF16", 32, 32, 8}},
      {"gfx942", kF32, kF32, {"MFMA_F32_16x16x4_F32", 16, 16, 4}},
      {"gfx950", kF16, kF32, {"MFMA_F32_16x16x32_F16", 16, 16, 32}},
      {"gfx950", kF16, kF32, {"MFMA_F32_32x32x16_F16", 32, 32, 16}},
      {"gfx950", kBF16, kF32, {"MFMA_F32_16x16x32_BF16", 16, 16, 32}},
      {"gfx950", kBF16, kF32, {"MFMA_F32_32x32x16_BF16", 32, 32, 16}},
      {"gfx950", kF32, kF32, {"MFMA_F32_16x16x4_F32", 16, 16, 4}},
      {"gfx11", kF16, kF32, {"WMMAR3_F32_16x16x16_F16", 16, 16, 16}},
      {"gfx11", kBF16, kF32, {"WMMAR3_F32_16x16x16_BF16", 16, 16, 16}},
      {"gfx12", kF16, kF32, {"WMMAR4_F32_16x16x16_F16", 16, 16, 16}},
      {"gfx12", kBF16, kF32, {"WMMAR4_F32_16x16x16_BF16", 16, 16, 16}},
  };
  return kAll;
}

}  // namespace

std::vector<MatrixInstruction> matrix_instructions(const problem::GpuTarget& target,
                                                   ElementType input, ElementType output) {
  std::vector<MatrixInstruction> found;
  for (const InstructionRow& each : known())
    if (target.compiled_as.starts_with(each.arch) && each.input == input && each.output == output)
      found.push_back(each.instruction);
  return found;
}

namespace {

// A way of compiling the root that hone has a space for.
struct OwnSpace {
  std::string_view pipeline;
  Result<space::Space> (*space)(const problem::Operation& root, const problem::GpuTarget& target);
  Result<Attributes> (*attributes)(const problem::Operation& root, const problem::GpuTarget& target,
                                   const gpu::Values& values);
};

constexpr OwnSpace kMatrixInstructions{"TileAndFuse", gpu::instruction_space,
                                       gpu::instruction_attributes};
constexpr OwnSpace kThreads{"TileAndFuse", gpu::thread_space, gpu::thread_attributes};
constexpr OwnSpace kRows{"VectorDistribute", gpu::row_space, gpu::row_attributes};
constexpr OwnSpace kOutputs{"TileAndFuse", gpu::output_space, gpu::output_attributes};
constexpr OwnSpace kAttention{"VectorDistribute", gpu::attention_space, gpu::attention_attributes};

// Reductions have two.
std::vector<OwnSpace> forms_of(const problem::Operation& root, const problem::GpuTarget& target) {
  if (gpu::has_open_k(root)) return {};
  if (gpu::is_matrix_product(root))
    return {gpu::instructions_for(root, target).empty() ? kThreads : kMatrixInstructions};
  std::vector<OwnSpace> forms;
  if (gpu::goes_along_rows(root, target)) forms.push_back(kRows);
  if (gpu::goes_by_outputs(root)) forms.push_back(kOutputs);
  if (gpu::is_known_attention(root, target)) forms.push_back(kAttention);
  return forms;
}

}  // namespace

std::string why_no_own_space(const problem::Operation& root, const problem::GpuTarget& target) {
  if (!forms_of(root, target).empty()) return {};
  if (gpu::has_open_k(root))
    return fmt::format(
        "k of {} is known at run time only: what IREE compiles of hone's configurations for such a "
        "product does not end",
        problem::describe(root));
  return fmt::format(
      "the compiler states no constraints for its {} on {}, and hone has spaces of its own only "
      "for (batch) matmuls, products with a vector, reductions, elementwise operations, softmax "
      "along rows and plain attention of whole matrix instructions",
      problem::describe(root), target.compiled_as);
}

Result<space::Space> gpu_own_space(const problem::Operation& root,
                                   const problem::GpuTarget& target) {
  const std::vector<OwnSpace> forms = forms_of(root, target);
  if (forms.empty()) return input_error("{}", why_no_own_space(root, target));
  if (forms.size() == 1) return forms.front().space(root, target);
  std::vector<space::Space> parts;
  std::vector<std::string> names;
  for (const OwnSpace& form : forms) {
    HONE_ASSIGN(space::Space part, form.space(root, target));
    names.push_back(fmt::format("{}: {}", parts.size(), form.pipeline));
    parts.push_back(std::move(part));
  }
  return space::Space::unite(std::string(kPipelineKnob), fmt::format("{}", fmt::join(names, ", ")),
                             std::move(parts));
}

Result<Attributes> gpu_own_attributes(const problem::Operation& root,
                                      const problem::GpuTarget& target, const space::Space& space,
                                      const space::Configuration& configuration) {
  const std::vector<OwnSpace> forms = forms_of(root, target);
  if (forms.empty()) return input_error("{}", why_no_own_space(root, target));
  const gpu::Values values(space, configuration);
  const auto which = to_index(forms.size() == 1 ? 0 : values.of(kPipelineKnob));
  if (which >= forms.size())
    return input_error("{} = {} is none of hone's {}", kPipelineKnob, which, forms.size());
  return forms[which].attributes(root, target, values);
}

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
  for (const space::Knob& knob : space.parts()[to_index(statement)].knobs()) {
    auto& place = is_own_knob(knob.name) ? attributes.options : attributes.knobs;
    HONE_ASSIGN(place[knob.name], space.value(configuration, knob.name));
  }
  return attributes;
}

}  // namespace hone::iree
