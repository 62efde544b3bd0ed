#include "measure/openblas_kernel.h"

#include "measure/product_plan.h"
#include "measure/reference.h"

namespace hone::measure {
namespace {

using problem::Operand;
using problem::Operation;

class OpenBlasKernel : public device::Kernel {
 public:
  OpenBlasKernel(provider::vendor::OpenBlas library, const SgemmPlan& plan)
      : library_(std::move(library)), plan_(plan) {}

  Status launch(std::span<const device::Buffer> bindings) override {
    const auto& shape = plan_.shape;
    const auto* first = static_cast<const float*>(bindings[plan_.swapped ? 1 : 0].data);
    const auto* second = static_cast<const float*>(bindings[plan_.swapped ? 0 : 1].data);
    auto* output = static_cast<float*>(bindings[2].data);
    for (std::int64_t i = 0; i < plan_.batches; ++i)
      library_.sgemm(shape, first + i * shape.m * shape.k, second + i * shape.k * shape.n,
                     output + i * shape.m * shape.n);
    return {};
  }
  bool uses_device_threads() const override { return false; }

 private:
  provider::vendor::OpenBlas library_;
  SgemmPlan plan_;
};

// The root alone, in f32: what sgemm computes.
problem::Dispatch root_in_f32(const problem::Dispatch& dispatch) {
  problem::Dispatch root;
  root.name = dispatch.name;
  root.root = dispatch.root;
  root.root_operations = 1;
  for (Operand& operand : root.root.operands) {
    operand.type.element = problem::ElementType::kF32;
    root.bindings.push_back(
        {.access = operand.output ? problem::Access::kWriteOnly : problem::Access::kReadOnly,
         .use = operand.output ? problem::BindingUse::kOutput : problem::BindingUse::kRootInput,
         .type = operand.type,
         .bytes = problem::element_count(operand.type) * 4});
  }
  return root;
}

std::string note_for(const problem::Dispatch& dispatch) {
  std::string note;
  for (const Operand& operand : dispatch.root.operands)
    if (operand.type.element != problem::ElementType::kF32) {
      note = fmt::format("{} operands as f32, converted beforehand",
                         problem::name_of(operand.type.element));
      break;
    }
  if (!is_bare(dispatch))
    note += (note.empty() ? "" : "; ") + std::string("without what is fused around the product");
  return note;
}

}  // namespace

Result<SgemmPlan> plan_sgemm(const Operation& operation) {
  HONE_ASSIGN(const device::Product product, plan_product(operation));
  for (const Operand& operand : operation.operands)
    if (!problem::is_float(operand.type.element) ||
        operand.type.element == problem::ElementType::kF64)
      return input_error("sgemm computes in f32; {} has {} operands", problem::describe(operation),
                         problem::name_of(operand.type.element));
  return SgemmPlan{.shape = {.m = product.m,
                             .n = product.n,
                             .k = product.k,
                             .transpose_a = product.transpose_a,
                             .transpose_b = product.transpose_b},
                   .batches = product.batches,
                   .swapped = product.bindings[0] == 1};
}

Result<OpenBlasParts> make_openblas(const ProblemRequest& request, device::Device& device) {
  HONE_ASSIGN(const SgemmPlan plan, plan_sgemm(request.dispatch.root));
  HONE_ASSIGN(auto library, provider::vendor::OpenBlas::open(request.cores));
  const problem::Dispatch root = root_in_f32(request.dispatch);
  ProblemRequest problem = request;
  problem.dispatch = root;
  problem.inputs.clear();
  problem.expected.clear();
  problem.tolerance.reset();
  HONE_ASSIGN(auto operands, launch_operands(problem));
  HONE_ASSIGN(auto expected, computed_outputs(problem, operands));
  if (!expected) return input_error("{} is no product that hone computes", root.name);
  OpenBlasParts parts;
  parts.note = note_for(request.dispatch);
  std::string rotation_note;
  HONE_ASSIGN(Buffers buffers, make_buffers(root.bindings, operands, request, rotation_note));
  HONE_ASSIGN(Workload workload,
              make_workload(std::move(buffers), std::move(*expected), operands, device));
  parts.workload = std::make_unique<Workload>(std::move(workload));
  parts.library = library.configuration();
  parts.kernel = std::make_unique<OpenBlasKernel>(std::move(library), plan);
  return parts;
}

}  // namespace hone::measure
