#include "provider/iree/gpu/own_space.h"

#include "provider/iree/gpu/attention_space.h"
#include "provider/iree/gpu/matmul_space.h"
#include "provider/iree/gpu/output_space.h"
#include "provider/iree/gpu/row_space.h"
#include "provider/iree/gpu/space_parts.h"
#include "provider/iree/gpu/stated_space.h"

namespace hone::iree {
namespace {

enum class Form { kMatrixInstructions, kThreads, kRows, kOutputs, kAttention };

// The ways of compiling the root that hone has a space for: reductions have two.
std::vector<Form> forms_of(const problem::Operation& root, const problem::GpuTarget& target) {
  if (gpu::has_open_k(root)) return {};
  if (gpu::is_matrix_product(root))
    return {gpu::instructions_for(root, target).empty() ? Form::kThreads
                                                        : Form::kMatrixInstructions};
  std::vector<Form> forms;
  if (gpu::goes_along_rows(root, target)) forms.push_back(Form::kRows);
  if (gpu::goes_by_outputs(root)) forms.push_back(Form::kOutputs);
  if (gpu::is_known_attention(root, target)) forms.push_back(Form::kAttention);
  return forms;
}

std::string_view pipeline_of(Form form) {
  return form == Form::kRows || form == Form::kAttention ? "VectorDistribute" : "TileAndFuse";
}

Result<space::Space> space_of(Form form, const problem::Operation& root,
                              const problem::GpuTarget& target) {
  switch (form) {
    case Form::kMatrixInstructions:
      return gpu::instruction_space(root, target);
    case Form::kThreads:
      return gpu::thread_space(root, target);
    case Form::kRows:
      return gpu::row_space(root, target);
    case Form::kOutputs:
      return gpu::output_space(root, target);
    case Form::kAttention:
      break;
  }
  return gpu::attention_space(root, target);
}

Result<Attributes> attributes_of(Form form, const problem::Operation& root,
                                 const problem::GpuTarget& target, const gpu::Values& values) {
  switch (form) {
    case Form::kMatrixInstructions:
      return gpu::instruction_attributes(root, target, values);
    case Form::kThreads:
      return gpu::thread_attributes(root, target, values);
    case Form::kRows:
      return gpu::row_attributes(root, target, values);
    case Form::kOutputs:
      return gpu::output_attributes(root, target, values);
    case Form::kAttention:
      break;
  }
  return gpu::attention_attributes(root, target, values);
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
  if (forms.size() == 1) return space_of(forms.front(), root, target);
  std::vector<space::Space> parts;
  std::vector<std::string> names;
  for (const Form form : forms) {
    HONE_ASSIGN(space::Space part, space_of(form, root, target));
    names.push_back(fmt::format("{}: {}", parts.size(), pipeline_of(form)));
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
  return attributes_of(forms[which], root, target, values);
}

}  // namespace hone::iree
