#include "device/gpu/lt_library.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "device/gpu/device.h"
#include "device/gpu/kernel.h"

namespace hone::device::gpu {
namespace {

// Workspace that the library may use, as PyTorch and the makers' own benchmarks give it at most.
constexpr std::size_t kLtWorkspaceBytes = std::size_t{256} << 20;

}  // namespace

std::string find_lt_calls(const SharedLibrary& library, std::string_view prefix, LtApi& api) {
  std::string missing;
  const auto find = [&](const char* name, auto& function) {
    const std::string symbol = std::string(prefix) + name;
    if (!library.find(symbol.c_str(), function) && missing.empty()) missing = symbol;
  };
  find("Create", api.create);
  find("Destroy", api.destroy);
  find("MatmulDescCreate", api.matmul_create);
  find("MatmulDescSetAttribute", api.matmul_set);
  find("MatmulDescDestroy", api.matmul_destroy);
  find("MatrixLayoutCreate", api.layout_create);
  find("MatrixLayoutSetAttribute", api.layout_set);
  find("MatrixLayoutDestroy", api.layout_destroy);
  find("MatmulPreferenceCreate", api.preference_create);
  find("MatmulPreferenceSetAttribute", api.preference_set);
  find("MatmulPreferenceDestroy", api.preference_destroy);
  find("MatmulAlgoGetHeuristic", api.heuristics);
  find("Matmul", api.multiply);
  return missing;
}

Status LtLibrary::check(LtStatus code, std::string_view doing) const {
  if (code == 0) return {};
  return failure("{}: {} says {}", doing, title, status_name(code));
}

namespace {

using problem::ElementType;

std::optional<int> data_type(ElementType type) {
  switch (type) {
    case ElementType::kF16:
      return kLtF16;
    case ElementType::kBF16:
      return kLtBF16;
    case ElementType::kF32:
      return kLtF32;
    default:
      return std::nullopt;
  }
}

ColumnMajor column_major(std::size_t binding, int type, std::int64_t rows, std::int64_t columns,
                         bool transposed) {
  if (transposed) std::swap(rows, columns);  // as it is stored
  return {.binding = binding,
          .type = type,
          .rows = static_cast<std::uint64_t>(columns),
          .columns = static_cast<std::uint64_t>(rows),
          .leading = columns,
          .stride = rows * columns,
          .transposed = transposed};
}

}  // namespace

Result<ColumnMajorProduct> column_major(const Product& product, std::string_view title) {
  const std::optional<int> input = data_type(product.input), output = data_type(product.output);
  if (!input || !output || (product.output != ElementType::kF32 && product.output != product.input))
    return input_error("{} does not multiply {} into {} with sums in f32", title,
                       problem::name_of(product.input), problem::name_of(product.output));
  if (product.batches < 1 || product.batches > std::numeric_limits<std::int32_t>::max())
    return input_error("{} takes no batch of {} products", title, product.batches);
  ColumnMajorProduct columns;
  columns.first =
      column_major(product.bindings[1], *input, product.k, product.n, product.transpose_b);
  columns.second =
      column_major(product.bindings[0], *input, product.m, product.k, product.transpose_a);
  columns.output = column_major(product.bindings[2], *output, product.m, product.n, false);
  columns.batches = static_cast<std::int32_t>(product.batches);
  columns.beta = product.accumulate ? 1 : 0;
  // Parts added up in a 16-bit output would be rounded on the way, which the dispatch does not do.
  columns.reductions = kLtReduceInF32;
  if (product.output == ElementType::kF32) columns.reductions |= kLtReduceInOutput;
  return columns;
}

namespace {

// A call of the library takes about this long on the host, since it may launch several kernels.
constexpr double kCallSeconds = 15e-6;

// A proposal: the library's own bytes, aligned as it needs them.
struct Algorithm {
  std::vector<char> bytes;
  std::size_t workspace_bytes = 0;
};

// The library's objects for one product; its kernels share them.
class MultiplyPlan {
 public:
  MultiplyPlan(std::shared_ptr<GpuContext> gpu, std::shared_ptr<const LtLibrary> library,
               const ColumnMajorProduct& product)
      : gpu_(std::move(gpu)), library_(std::move(library)), product_(product) {}
  MultiplyPlan(const MultiplyPlan&) = delete;
  MultiplyPlan& operator=(const MultiplyPlan&) = delete;
  ~MultiplyPlan() {
    const LtApi& call = library_->call;
    for (LtLayout layout : {first_, second_, output_})
      if (layout != nullptr) call.layout_destroy(layout);
    if (matmul_ != nullptr) call.matmul_destroy(matmul_);
    if (workspace_ != 0) gpu_->call().memory_free(workspace_);
    if (handle_ != nullptr) call.destroy(handle_);
  }

  Status set_up() {
    const LtApi& call = library_->call;
    HONE_TRY(library_->check(call.create(&handle_), "starting"));
    HONE_TRY(library_->check(call.matmul_create(&matmul_, library_->numbers.compute_f32, kLtF32),
                             "setting up"));
    const LtNumbers& numbers = library_->numbers;
    const std::int32_t operations[] = {
        product_.first.transposed ? numbers.transposed : numbers.plain,
        product_.second.transposed ? numbers.transposed : numbers.plain};
    HONE_TRY(library_->check(
        call.matmul_set(matmul_, numbers.transpose_a, &operations[0], sizeof(operations[0])),
        "setting up"));
    HONE_TRY(library_->check(
        call.matmul_set(matmul_, numbers.transpose_b, &operations[1], sizeof(operations[1])),
        "setting up"));
    HONE_TRY(make_layout(product_.first, first_));
    HONE_TRY(make_layout(product_.second, second_));
    HONE_TRY(make_layout(product_.output, output_));
    return gpu_->check(
        gpu_->call().memory_allocate(&workspace_, kLtWorkspaceBytes),
        fmt::format("taking {} bytes of memory for {}", kLtWorkspaceBytes, library_->title));
  }

  Result<std::vector<Algorithm>> heuristics(std::size_t most) {
    const LtApi& call = library_->call;
    const LtNumbers& numbers = library_->numbers;
    LtPreference preference = nullptr;
    HONE_TRY(library_->check(call.preference_create(&preference), "setting up"));
    const std::uint64_t workspace = kLtWorkspaceBytes;
    std::vector<char> results(most * numbers.result_bytes);
    int count = 0;
    LtStatus status =
        call.preference_set(preference, numbers.most_workspace, &workspace, sizeof(workspace));
    if (status == 0 && numbers.reduction_schemes)
      status = call.preference_set(preference, *numbers.reduction_schemes, &product_.reductions,
                                   sizeof(product_.reductions));
    if (status == 0)
      status = call.heuristics(handle_, matmul_, first_, second_, output_, output_, preference,
                               static_cast<int>(most), results.data(), &count);
    call.preference_destroy(preference);
    HONE_TRY(library_->check(status, "asking for algorithms"));
    std::vector<Algorithm> algorithms;
    for (int i = 0; i < std::clamp(count, 0, static_cast<int>(most)); ++i) {
      const char* const begin = results.data() + static_cast<std::size_t>(i) * numbers.result_bytes;
      Algorithm algorithm{{begin, begin + numbers.workspace_at}};
      LtStatus works = 0;
      std::memcpy(&algorithm.workspace_bytes, begin + numbers.workspace_at,
                  sizeof(algorithm.workspace_bytes));
      std::memcpy(&works, begin + numbers.status_at, sizeof(works));
      if (works == 0 && algorithm.workspace_bytes <= kLtWorkspaceBytes)
        algorithms.push_back(std::move(algorithm));
    }
    return algorithms;
  }

  std::string describe(const Algorithm& algorithm) const {
    return fmt::format("{}workspace {} bytes",
                       library_->describe ? library_->describe(algorithm.bytes.data()) + ", " : "",
                       algorithm.workspace_bytes);
  }

  Status multiply(const Algorithm& algorithm, std::span<const Buffer> bindings) const {
    const auto address = [bindings](const ColumnMajor& matrix) {
      return reinterpret_cast<DevicePointer>(bindings[matrix.binding].data);
    };
    const float alpha = 1;
    const DevicePointer output = address(product_.output);
    return library_->check(
        library_->call.multiply(handle_, matmul_, &alpha, address(product_.first), first_,
                                address(product_.second), second_, &product_.beta, output, output_,
                                output, output_, algorithm.bytes.data(), workspace_,
                                algorithm.workspace_bytes, nullptr),
        "multiplying");
  }

  GpuContext& gpu() const { return *gpu_; }

 private:
  Status make_layout(const ColumnMajor& matrix, LtLayout& layout) {
    const LtApi& call = library_->call;
    LtStatus status =
        call.layout_create(&layout, matrix.type, matrix.rows, matrix.columns, matrix.leading);
    if (status == 0)
      status = call.layout_set(layout, library_->numbers.batch_count, &product_.batches,
                               sizeof(product_.batches));
    if (status == 0)
      status = call.layout_set(layout, library_->numbers.batch_offset, &matrix.stride,
                               sizeof(matrix.stride));
    return library_->check(status, "setting up");
  }

  std::shared_ptr<GpuContext> gpu_;
  std::shared_ptr<const LtLibrary> library_;
  ColumnMajorProduct product_;
  LtHandle handle_ = nullptr;
  LtMatmul matmul_ = nullptr;
  LtLayout first_ = nullptr, second_ = nullptr, output_ = nullptr;
  DevicePointer workspace_ = 0;
};

class LtKernel : public QueuedKernel {
 public:
  LtKernel(std::shared_ptr<const MultiplyPlan> plan, Algorithm algorithm)
      : plan_(std::move(plan)), algorithm_(std::move(algorithm)) {
    launch_seconds = kCallSeconds;
  }
  Status enqueue(std::span<const Buffer> bindings) override {
    return plan_->multiply(algorithm_, bindings);
  }
  Status launch(std::span<const Buffer> bindings) override {
    const BusyWait busy(plan_->gpu());
    HONE_TRY(enqueue(bindings));
    return plan_->gpu().wait("running the library's kernel");
  }

 private:
  std::shared_ptr<const MultiplyPlan> plan_;
  Algorithm algorithm_;
};

}  // namespace

Result<LibraryKernels> lt_kernels(const std::shared_ptr<GpuContext>& gpu,
                                  const std::shared_ptr<const LtLibrary>& library,
                                  const Product& product, std::size_t most) {
  HONE_ASSIGN(const ColumnMajorProduct columns, column_major(product, library->title));
  const auto plan = std::make_shared<MultiplyPlan>(gpu, library, columns);
  HONE_TRY(plan->set_up());
  HONE_ASSIGN(const std::vector<Algorithm> algorithms, plan->heuristics(most));
  if (algorithms.empty()) return failure("{} has no algorithm for this product", library->name);
  LibraryKernels kernels{.library = library->name, .kernels = {}};
  for (const Algorithm& algorithm : algorithms)
    kernels.kernels.push_back(
        {std::make_unique<LtKernel>(plan, algorithm), plan->describe(algorithm)});
  return kernels;
}

namespace {

// Most algorithms of the library's proposals to try.
constexpr std::size_t kMostAlgorithms = 32;

class RegisteredLt final : public Library {
 public:
  explicit RegisteredLt(const LtEntry& entry) : entry_(entry) {}
  std::string_view name() const override { return entry_.name; }
  std::string_view title() const override { return entry_.title; }
  std::string_view device_kind() const override { return entry_.device_kind; }

  Result<LibraryKernels> kernels(const problem::Dispatch& dispatch, Device& device,
                                 std::span<const int>) override {
    HONE_ASSIGN(const Product product, dispatch_product(dispatch));
    const std::shared_ptr<GpuContext> gpu = gpu_of(device, entry_.device_kind);
    if (!gpu) return input_error("{} computes on GPUs that hone opened itself", entry_.title);
    if (!library_) {
      HONE_ASSIGN(library_, entry_.open());
    }
    return lt_kernels(gpu, library_, product, kMostAlgorithms);
  }

 private:
  LtEntry entry_;
  std::shared_ptr<const LtLibrary> library_;
};

}  // namespace

std::unique_ptr<Library> lt_library(const LtEntry& entry) {
  return std::make_unique<RegisteredLt>(entry);
}

}  // namespace hone::device::gpu
