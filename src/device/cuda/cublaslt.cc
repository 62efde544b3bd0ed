#include "device/cuda/cublaslt.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>

#include "device/cuda/gpu.h"
#include "device/cuda/toolkit.h"
#include "device/gpu/device.h"
#include "device/gpu/kernel.h"

namespace hone::device::cuda {
namespace {

// Workspace that the library may use, as PyTorch and NVIDIA's own benchmarks give it at most.
constexpr std::size_t kLtWorkspaceBytes = std::size_t{256} << 20;

// cublasLtGetVersion counts 10000 x major + 100 x minor + patch from CUDA 12 on. Smaller numbers
// are older libraries in either way of counting.
constexpr std::size_t kOldestCublasLt = 120000;
constexpr const char* kWhereItIs = "PyTorch's wheels and the CUDA toolkit (12.0 or later) have it";
constexpr const char* kHowToName = "HONE_CUBLASLT names the file";

template <class Signature>
Status find_call(const SharedLibrary& library, const char* symbol, Signature& function) {
  if (library.find(symbol, function)) return {};
  return advised(
      environment_error("{} has no function {}: it is no cuBLASLt of CUDA 12.0 or later; {}",
                        library.name(), symbol, kWhereItIs),
      kHowToName);
}

Status find_calls(const SharedLibrary& library, CublasLtApi& api) {
#define HONE_CUBLASLT_FIND(member, symbol, parameters) \
  HONE_TRY(find_call(library, symbol, api.member));
  HONE_CUBLASLT_CALLS(HONE_CUBLASLT_FIND)
#undef HONE_CUBLASLT_FIND
  HONE_TRY(find_call(library, "cublasLtGetVersion", api.version));
  return find_call(library, "cublasLtGetStatusName", api.status_name);
}

}  // namespace

std::vector<std::string> cublaslt_names() {
  if (const char* given = std::getenv("HONE_CUBLASLT"); given != nullptr && *given != '\0')
    return {given};
  return library_names({"libcublasLt.so.13", "libcublasLt.so.12"});
}

Result<std::shared_ptr<const CublasLt>> CublasLt::open(const std::vector<std::string>& names) {
  const auto library = SharedLibrary::open(names);
  if (!library)
    return advised(environment_error("cuBLASLt is not on this machine ({}): {}",
                                     library.error().message, kWhereItIs),
                   kHowToName);
  const std::shared_ptr<CublasLt> lt(new CublasLt);
  HONE_TRY(find_calls(*library, lt->api_));
  lt->version_ = lt->api_.version();
  if (lt->version_ < kOldestCublasLt)
    return advised(
        environment_error("{} is too old: version {}, hone needs {} (CUDA 12.0) or later; {}",
                          library->name(), lt->version_, kOldestCublasLt, kWhereItIs),
        kHowToName);
  return std::shared_ptr<const CublasLt>(lt);
}

std::string CublasLt::name() const {
  return fmt::format("cuBLASLt {}.{}.{}", version_ / 10000, version_ / 100 % 100, version_ % 100);
}

Status CublasLt::check(LtStatus code, std::string_view doing) const {
  if (code == 0) return {};
  const char* const name = api_.status_name(code);
  return failure("{}: cuBLASLt says {}", doing,
                 name != nullptr ? std::string(name) : fmt::format("error {}", code));
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

Result<ColumnMajorProduct> column_major(const Product& product) {
  const std::optional<int> input = data_type(product.input), output = data_type(product.output);
  if (!input || !output || (product.output != ElementType::kF32 && product.output != product.input))
    return input_error("cuBLASLt does not multiply {} into {} with sums in f32",
                       problem::name_of(product.input), problem::name_of(product.output));
  if (product.batches < 1 || product.batches > std::numeric_limits<std::int32_t>::max())
    return input_error("cuBLASLt takes no batch of {} products", product.batches);
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

// The library's objects for one product; its kernels share them.
class MultiplyPlan {
 public:
  MultiplyPlan(std::shared_ptr<GpuContext> gpu, std::shared_ptr<const CublasLt> library,
               const ColumnMajorProduct& product)
      : gpu_(std::move(gpu)), library_(std::move(library)), product_(product) {}
  MultiplyPlan(const MultiplyPlan&) = delete;
  MultiplyPlan& operator=(const MultiplyPlan&) = delete;
  ~MultiplyPlan() {
    const CublasLtApi& call = library_->call();
    for (LtLayout layout : {first_, second_, output_})
      if (layout != nullptr) call.layout_destroy(layout);
    if (matmul_ != nullptr) call.matmul_destroy(matmul_);
    if (workspace_ != 0) gpu_->call().memory_free(workspace_);
    if (handle_ != nullptr) call.destroy(handle_);
  }

  Status set_up() {
    const CublasLtApi& call = library_->call();
    HONE_TRY(library_->check(call.create(&handle_), "starting"));
    HONE_TRY(library_->check(call.matmul_create(&matmul_, kLtComputeF32, kLtF32), "setting up"));
    const std::int32_t operations[] = {product_.first.transposed ? kLtTransposed : kLtPlain,
                                       product_.second.transposed ? kLtTransposed : kLtPlain};
    HONE_TRY(library_->check(
        call.matmul_set(matmul_, kLtTransposeA, &operations[0], sizeof(operations[0])),
        "setting up"));
    HONE_TRY(library_->check(
        call.matmul_set(matmul_, kLtTransposeB, &operations[1], sizeof(operations[1])),
        "setting up"));
    HONE_TRY(make_layout(product_.first, first_));
    HONE_TRY(make_layout(product_.second, second_));
    HONE_TRY(make_layout(product_.output, output_));
    return gpu_->check(gpu_->call().memory_allocate(&workspace_, kLtWorkspaceBytes),
                       fmt::format("taking {} bytes of memory for cuBLASLt", kLtWorkspaceBytes));
  }

  Result<std::vector<LtHeuristicResult>> heuristics(std::size_t most) {
    const CublasLtApi& call = library_->call();
    LtPreference preference = nullptr;
    HONE_TRY(library_->check(call.preference_create(&preference), "setting up"));
    const std::uint64_t workspace = kLtWorkspaceBytes;
    std::vector<LtHeuristicResult> results(most);
    int count = 0;
    LtStatus status =
        call.preference_set(preference, kLtMostWorkspace, &workspace, sizeof(workspace));
    if (status == 0)
      status = call.preference_set(preference, kLtReductionSchemes, &product_.reductions,
                                   sizeof(product_.reductions));
    if (status == 0)
      status = call.heuristics(handle_, matmul_, first_, second_, output_, output_, preference,
                               static_cast<int>(most), results.data(), &count);
    call.preference_destroy(preference);
    HONE_TRY(library_->check(status, "asking for algorithms"));
    results.resize(static_cast<std::size_t>(std::clamp(count, 0, static_cast<int>(most))));
    std::erase_if(results, [](const LtHeuristicResult& result) {
      return result.status != 0 || result.workspace_bytes > kLtWorkspaceBytes;
    });
    return results;
  }

  std::string describe(const LtHeuristicResult& result) const {
    const auto attribute = [&](int which) {
      std::uint32_t value = 0;
      std::size_t written = 0;
      library_->call().algorithm_get(&result.algorithm, which, &value, sizeof(value), &written);
      return value;
    };
    return fmt::format("algorithm {}, tile {}, stages {}, split-K {}, workspace {} bytes",
                       attribute(kLtAlgorithmId), attribute(kLtTile), attribute(kLtStages),
                       static_cast<std::int32_t>(attribute(kLtSplitK)), result.workspace_bytes);
  }

  Status multiply(const LtHeuristicResult& result, std::span<const Buffer> bindings) const {
    const auto address = [bindings](const ColumnMajor& matrix) {
      return reinterpret_cast<DevicePointer>(bindings[matrix.binding].data);
    };
    const float alpha = 1;
    const DevicePointer output = address(product_.output);
    return library_->check(
        library_->call().multiply(handle_, matmul_, &alpha, address(product_.first), first_,
                                  address(product_.second), second_, &product_.beta, output,
                                  output_, output, output_, &result.algorithm, workspace_,
                                  result.workspace_bytes, nullptr),
        "multiplying");
  }

  GpuContext& gpu() const { return *gpu_; }

 private:
  Status make_layout(const ColumnMajor& matrix, LtLayout& layout) {
    const CublasLtApi& call = library_->call();
    LtStatus status =
        call.layout_create(&layout, matrix.type, matrix.rows, matrix.columns, matrix.leading);
    if (status == 0)
      status = call.layout_set(layout, kLtBatchCount, &product_.batches, sizeof(product_.batches));
    if (status == 0)
      status = call.layout_set(layout, kLtBatchOffset, &matrix.stride, sizeof(matrix.stride));
    return library_->check(status, "setting up");
  }

  std::shared_ptr<GpuContext> gpu_;
  std::shared_ptr<const CublasLt> library_;
  ColumnMajorProduct product_;
  LtHandle handle_ = nullptr;
  LtMatmul matmul_ = nullptr;
  LtLayout first_ = nullptr, second_ = nullptr, output_ = nullptr;
  DevicePointer workspace_ = 0;
};

class CublasLtKernel : public gpu::QueuedKernel {
 public:
  CublasLtKernel(std::shared_ptr<const MultiplyPlan> plan, const LtHeuristicResult& result)
      : plan_(std::move(plan)), result_(result) {
    launch_seconds = kCallSeconds;
  }
  Status enqueue(std::span<const Buffer> bindings) override {
    return plan_->multiply(result_, bindings);
  }
  Status launch(std::span<const Buffer> bindings) override {
    const gpu::BusyWait busy(plan_->gpu());
    HONE_TRY(enqueue(bindings));
    return plan_->gpu().wait("running cuBLASLt's kernel");
  }

 private:
  std::shared_ptr<const MultiplyPlan> plan_;
  LtHeuristicResult result_;
};

}  // namespace

Result<LibraryKernels> cublaslt_kernels(const std::shared_ptr<GpuContext>& gpu,
                                        const std::shared_ptr<const CublasLt>& library,
                                        const Product& product, std::size_t most) {
  HONE_ASSIGN(const ColumnMajorProduct columns, column_major(product));
  const auto plan = std::make_shared<MultiplyPlan>(gpu, library, columns);
  HONE_TRY(plan->set_up());
  HONE_ASSIGN(const std::vector<LtHeuristicResult> results, plan->heuristics(most));
  if (results.empty()) return failure("{} has no algorithm for this product", library->name());
  LibraryKernels kernels{.library = library->name(), .kernels = {}};
  for (const LtHeuristicResult& result : results)
    kernels.kernels.push_back(
        {std::make_unique<CublasLtKernel>(plan, result), plan->describe(result)});
  return kernels;
}

namespace {

// Most algorithms of cuBLASLt's proposals to try.
constexpr std::size_t kMostAlgorithms = 32;

class CublasLtLibrary final : public Library {
 public:
  std::string_view name() const override { return "cublaslt"; }
  std::string_view title() const override { return "cuBLASLt"; }
  std::string_view device_kind() const override { return kKind; }

  Result<LibraryKernels> kernels(const problem::Dispatch& dispatch, Device& device,
                                 std::span<const int>) override {
    HONE_ASSIGN(const Product product, dispatch_product(dispatch));
    const std::shared_ptr<GpuContext> gpu = gpu::gpu_of(device, kKind);
    if (!gpu) return input_error("cuBLASLt computes on GPUs that hone opened itself");
    if (!library_) {
      HONE_ASSIGN(library_, CublasLt::open());
    }
    return cublaslt_kernels(gpu, library_, product, kMostAlgorithms);
  }

 private:
  std::shared_ptr<const CublasLt> library_;
};

}  // namespace

std::unique_ptr<Library> cublaslt() {
  return std::make_unique<CublasLtLibrary>();
}

}  // namespace hone::device::cuda
