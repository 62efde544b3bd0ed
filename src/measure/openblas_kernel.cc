#include "measure/openblas_kernel.h"

#include <algorithm>

#include "measure/reference.h"

namespace hone::measure {
namespace {

using problem::LoopRole;
using problem::Operand;
using problem::Operation;

// The operand's dimensions as roles, unit extents and leading batch loops left out; "mk" for a
// row-major left operand. An input error when a batch loop comes later or an index is not a loop.
Result<std::string> layout_of(const Operation& operation, const Operand& operand) {
  std::string layout;
  for (const int index : operand.loops) {
    if (index < 0) return input_error("an operand of {} is not indexed by loops", operation.name);
    const problem::Loop& loop = operation.loops[static_cast<std::size_t>(index)];
    if (loop.size == 1) continue;
    switch (loop.role) {
      case LoopRole::kBatch:
        if (!layout.empty())
          return input_error("sgemm needs the batch dimensions first, {} has them elsewhere",
                             problem::describe(operation));
        break;
      case LoopRole::kM:
        layout += 'm';
        break;
      case LoopRole::kN:
        layout += 'n';
        break;
      case LoopRole::kK:
        layout += 'k';
        break;
      case LoopRole::kOther:
        return input_error("{} is no matmul", problem::describe(operation));
    }
  }
  return layout;
}

std::vector<int> batch_loops(const Operation& operation, const Operand& operand) {
  std::vector<int> loops;
  for (const int index : operand.loops) {
    const problem::Loop& loop = operation.loops[static_cast<std::size_t>(index)];
    if (loop.role == LoopRole::kBatch && loop.size > 1) loops.push_back(index);
  }
  return loops;
}

// The extent of the one loop of `role` that is larger than 1; 1 when there is none.
Result<std::int64_t> extent_of(const Operation& operation, LoopRole role) {
  std::int64_t extent = 1;
  for (const int index : loops_with(operation, role)) {
    const std::int64_t size = operation.loops[static_cast<std::size_t>(index)].size;
    if (size == 1) continue;
    if (extent != 1)
      return input_error("{} has more than one {} loop; sgemm takes one",
                         problem::describe(operation), name_of(role));
    extent = size;
  }
  return extent;
}

// The layout is `wanted` or its reverse; `reversed` says which. Short ones are both.
Status match(const Operation& operation, std::string layout, std::string_view wanted,
             bool& reversed) {
  reversed = false;
  if (layout.size() < 2 || layout == wanted) return {};
  std::reverse(layout.begin(), layout.end());
  if (layout != wanted)
    return input_error("sgemm cannot take the layouts of {}", problem::describe(operation));
  reversed = true;
  return {};
}

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
  if (!problem::is_contraction(operation.kind) || problem::is_dynamic(operation) ||
      operation.operands.size() != 3)
    return input_error("OpenBLAS has no counterpart to {}: it is no static matmul",
                       problem::describe(operation));
  for (const Operand& operand : operation.operands)
    if (!problem::is_float(operand.type.element) ||
        operand.type.element == problem::ElementType::kF64)
      return input_error("sgemm computes in f32; {} has {} operands", problem::describe(operation),
                         problem::name_of(operand.type.element));
  const auto& operands = operation.operands;
  SgemmPlan plan;
  HONE_ASSIGN(const std::string left, layout_of(operation, operands[0]));
  HONE_ASSIGN(const std::string right, layout_of(operation, operands[1]));
  HONE_ASSIGN(const std::string output, layout_of(operation, operands[2]));
  const std::vector<int> batch = batch_loops(operation, operands[2]);
  if (batch_loops(operation, operands[0]) != batch || batch_loops(operation, operands[1]) != batch)
    return input_error("sgemm needs the same batch dimensions on every operand of {}",
                       problem::describe(operation));
  for (const int index : batch)
    plan.batches *= operation.loops[static_cast<std::size_t>(index)].size;
  HONE_TRY(match(operation, left, "mk", plan.shape.transpose_a));
  HONE_TRY(match(operation, right, "kn", plan.shape.transpose_b));
  HONE_TRY(match(operation, output, "mn", plan.swapped));
  HONE_ASSIGN(plan.shape.m, extent_of(operation, LoopRole::kM));
  HONE_ASSIGN(plan.shape.n, extent_of(operation, LoopRole::kN));
  HONE_ASSIGN(plan.shape.k, extent_of(operation, LoopRole::kK));
  if (plan.swapped) {
    std::swap(plan.shape.m, plan.shape.n);
    const bool left_was_reversed = plan.shape.transpose_a;
    plan.shape.transpose_a = !plan.shape.transpose_b;
    plan.shape.transpose_b = !left_was_reversed;
  }
  return plan;
}

Result<OpenBlasParts> make_openblas(const ProblemRequest& request) {
  HONE_ASSIGN(const SgemmPlan plan, plan_sgemm(request.dispatch.root));
  HONE_ASSIGN(auto library, provider::vendor::OpenBlas::open(request.cores));
  const problem::Dispatch root = root_in_f32(request.dispatch);
  HONE_ASSIGN(auto contents, first_contents(root, request.seed));
  HONE_ASSIGN(ExactContraction exact, exact_contraction(root.root, contents[0], contents[1]));
  OpenBlasParts parts;
  parts.note = note_for(request.dispatch);
  std::string rotation_note;
  HONE_ASSIGN(Buffers buffers,
              make_buffers(root.bindings, std::move(contents), request, rotation_note));
  auto expected = expect_output(buffers, 2, std::move(exact.output));
  parts.workload = std::make_unique<Workload>(Workload{.buffers = std::move(buffers),
                                                       .expected = std::move(expected),
                                                       .tolerance = tolerance_for(root)});
  parts.library = library.configuration();
  parts.kernel = std::make_unique<OpenBlasKernel>(std::move(library), plan);
  return parts;
}

}  // namespace hone::measure
