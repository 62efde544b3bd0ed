#include "provider/library/sgemm_library.h"

#include <dirent.h>
#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "device/library.h"
#include "problem/contraction.h"

namespace hone::library {
namespace {

// Threads of this process.
std::set<int> threads() {
  std::set<int> ids;
  DIR* folder = opendir("/proc/self/task");
  if (!folder) return ids;
  while (const dirent* entry = readdir(folder))
    if (const int id = std::atoi(entry->d_name); id > 0) ids.insert(id);
  closedir(folder);
  return ids;
}

void pin(int thread, std::span<const int> cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : cores) CPU_SET(core, &set);
  sched_setaffinity(thread, sizeof(set), &set);
}

}  // namespace

void start_on_cores(std::span<const int> cores, const std::function<void()>& start) {
  // Threads inherit the affinity of the thread that starts them.
  cpu_set_t former;
  sched_getaffinity(0, sizeof(former), &former);
  const std::set<int> before = threads();
  pin(0, cores);
  start();
  std::size_t next = 1;
  for (const int thread : threads())
    if (!before.contains(thread)) pin(thread, cores.subspan(next++ % cores.size(), 1));
  sched_setaffinity(0, sizeof(former), &former);
}

namespace {

using problem::Operand;
using problem::Operation;

class SgemmKernel final : public device::Kernel {
 public:
  SgemmKernel(SgemmRoutine routine, const SgemmPlan& plan)
      : routine_(std::move(routine)), plan_(plan) {}

  Status launch(std::span<const device::Buffer> bindings) override {
    const auto& shape = plan_.shape;
    const auto* first = static_cast<const float*>(bindings[plan_.swapped ? 1 : 0].data);
    const auto* second = static_cast<const float*>(bindings[plan_.swapped ? 0 : 1].data);
    auto* output = static_cast<float*>(bindings[2].data);
    for (std::int64_t i = 0; i < plan_.batches; ++i)
      HONE_TRY(routine_.call(shape, first + i * shape.m * shape.k, second + i * shape.k * shape.n,
                             output + i * shape.m * shape.n));
    return {};
  }
  bool uses_device_threads() const override { return false; }

 private:
  SgemmRoutine routine_;
  SgemmPlan plan_;
};

// The root alone, in f32, as sgemm computes it.
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
  if (!problem::is_bare(dispatch))
    note += (note.empty() ? "" : "; ") + std::string("without what is fused around the product");
  return note;
}

class SgemmLibrary final : public device::Library {
 public:
  using Open = std::function<Result<SgemmRoutine>(std::span<const int> cores)>;
  SgemmLibrary(std::string_view name, std::string_view title, Open open)
      : name_(name), title_(title), open_(std::move(open)) {}

  std::string_view name() const override { return name_; }
  std::string_view title() const override { return title_; }
  std::string_view device_kind() const override { return "cpu"; }

  Result<device::LibraryKernels> kernels(const problem::Dispatch& dispatch, device::Device&,
                                         std::span<const int> cores) override {
    HONE_ASSIGN(const SgemmPlan plan, plan_sgemm(dispatch.root));
    // Opening starts threads, and a runner has one problem after the other.
    if (!routine_ || !std::ranges::equal(cores_, cores)) {
      HONE_ASSIGN(routine_, open_(cores));
      cores_.assign(cores.begin(), cores.end());
    }
    device::LibraryKernels found{
        .library = routine_->version.empty() ? std::string(title_) : routine_->version,
        .kernels = {}};
    found.kernels.push_back({std::make_unique<SgemmKernel>(*routine_, plan), ""});
    found.problem = root_in_f32(dispatch);
    found.note = note_for(dispatch);
    return found;
  }

 private:
  std::string_view name_, title_;
  Open open_;
  std::optional<SgemmRoutine> routine_;
  std::vector<int> cores_;  // that it was opened for
};

}  // namespace

Result<SgemmPlan> plan_sgemm(const Operation& operation) {
  HONE_ASSIGN(const device::Product product, device::plan_product(operation));
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

std::unique_ptr<device::Library> sgemm_library(
    std::string_view name, std::string_view title,
    std::function<Result<SgemmRoutine>(std::span<const int> cores)> open) {
  return std::make_unique<SgemmLibrary>(name, title, std::move(open));
}

}  // namespace hone::library
