#include "provider/iree/gpu/own_space.h"

#include "provider/iree/gpu/attention_space.h"
#include "provider/iree/gpu/matmul_space.h"
#include "provider/iree/gpu/output_space.h"
#include "provider/iree/gpu/row_space.h"
#include "provider/iree/gpu/space_parts.h"
#include "provider/iree/gpu/stated_space.h"

namespace hone::iree {
namespace {

// A way of compiling the root that hone has a space for.
struct Form {
  std::string_view pipeline;
  Result<space::Space> (*space)(const problem::Operation& root, const problem::GpuTarget& target);
  Result<Attributes> (*attributes)(const problem::Operation& root, const problem::GpuTarget& target,
                                   const gpu::Values& values);
};

constexpr Form kMatrixInstructions{"TileAndFuse", gpu::instruction_space,
                                   gpu::instruction_attributes};
constexpr Form kThreads{"TileAndFuse", gpu::thread_space, gpu::thread_attributes};
constexpr Form kRows{"VectorDistribute", gpu::row_space, gpu::row_attributes};
constexpr Form kOutputs{"TileAndFuse", gpu::output_space, gpu::output_attributes};
constexpr Form kAttention{"VectorDistribute", gpu::attention_space, gpu::attention_attributes};

// Reductions have two.
std::vector<Form> forms_of(const problem::Operation& root, const problem::GpuTarget& target) {
  if (gpu::has_open_k(root)) return {};
  if (gpu::is_matrix_product(root))
    return {gpu::instructions_for(root, target).empty() ? kThreads : kMatrixInstructions};
  std::vector<Form> forms;
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
  const std::vector<Form> forms = forms_of(root, target);
  if (forms.empty()) return input_error("{}", why_no_own_space(root, target));
  if (forms.size() == 1) return forms.front().space(root, target);
  std::vector<space::Space> parts;
  std::vector<std::string> names;
  for (const Form& form : forms) {
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
  const std::vector<Form> forms = forms_of(root, target);
  if (forms.empty()) return input_error("{}", why_no_own_space(root, target));
  const gpu::Values values(space, configuration);
  const auto which = static_cast<std::size_t>(forms.size() == 1 ? 0 : values.of(kPipelineKnob));
  if (which >= forms.size())
    return input_error("{} = {} is none of hone's {}", kPipelineKnob, which, forms.size());
  return forms[which].attributes(root, target, values);
}

}  // namespace hone::iree
