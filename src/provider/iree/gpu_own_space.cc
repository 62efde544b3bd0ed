#include "provider/iree/gpu_own_space.h"

#include "provider/iree/gpu_attention_space.h"
#include "provider/iree/gpu_matmul_space.h"
#include "provider/iree/gpu_output_space.h"
#include "provider/iree/gpu_row_space.h"
#include "provider/iree/own_space_parts.h"

namespace hone::iree {
namespace {

enum class Form { kNone, kMatrixInstructions, kThreads, kRows, kOutputs, kAttention };

Form form_of(const problem::Operation& root, const problem::GpuTarget& target) {
  if (own::is_matrix_product(root))
    return own::instructions_for(root, target).empty() ? Form::kThreads : Form::kMatrixInstructions;
  if (own::goes_along_rows(root, target)) return Form::kRows;
  if (own::goes_by_outputs(root)) return Form::kOutputs;
  return own::is_known_attention(root, target) ? Form::kAttention : Form::kNone;
}

}  // namespace

std::string why_no_own_space(const problem::Operation& root, const problem::GpuTarget& target) {
  if (form_of(root, target) != Form::kNone) return {};
  return fmt::format(
      "the compiler states no constraints for its {} on {}, and hone has spaces of its own only "
      "for (batch) matmuls, products with a vector, reductions, elementwise operations, softmax "
      "along rows and plain attention of whole matrix instructions",
      problem::describe(root), target.compiled_as);
}

Result<space::Space> gpu_own_space(const problem::Operation& root,
                                   const problem::GpuTarget& target) {
  switch (form_of(root, target)) {
    case Form::kMatrixInstructions:
      return own::instruction_space(root, target);
    case Form::kThreads:
      return own::thread_space(root, target);
    case Form::kRows:
      return own::row_space(root, target);
    case Form::kOutputs:
      return own::output_space(root, target);
    case Form::kAttention:
      return own::attention_space(root, target);
    case Form::kNone:
      break;
  }
  return input_error("{}", why_no_own_space(root, target));
}

Result<provider::Attributes> gpu_own_attributes(const problem::Operation& root,
                                                const problem::GpuTarget& target,
                                                const space::Space& space,
                                                const space::Configuration& configuration) {
  const own::Values values(space, configuration);
  switch (form_of(root, target)) {
    case Form::kMatrixInstructions:
      return own::instruction_attributes(root, target, values);
    case Form::kThreads:
      return own::thread_attributes(root, target, values);
    case Form::kRows:
      return own::row_attributes(root, target, values);
    case Form::kOutputs:
      return own::output_attributes(root, target, values);
    case Form::kAttention:
      return own::attention_attributes(root, target, values);
    case Form::kNone:
      break;
  }
  return input_error("{}", why_no_own_space(root, target));
}

}  // namespace hone::iree
