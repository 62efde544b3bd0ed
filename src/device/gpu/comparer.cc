#include "device/gpu/comparer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace hone::device::gpu {
namespace {

// Compares by the rule of measure::compare, except that NaN is never right here: the host then
// decides.
constexpr const char* kSource = R"(
struct Result { unsigned long long bad, worst_error, worst_relative; };

__device__ double number(float x) { return x; }
__device__ double number(double x) { return x; }
struct Half { unsigned short bits; };
__device__ double number(Half x) { return half_to_float(x.bits); }
struct Brain { unsigned short bits; };
__device__ double number(Brain x) { return __int_as_float(int(x.bits) << 16); }

template <class T>
__device__ void compare(const T* got, const T* expected, long long count, double absolute,
                        double relative, Result* result) {
  unsigned long long bad = 0;
  double worst_error = 0, worst_relative = 0;
  const long long step = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    const double g = number(got[i]), e = number(expected[i]);
    if (g == e) continue;
    const double error = fabs(g - e), size = fabs(e);
    if (error > worst_error) worst_error = error;
    if (size > 0 && error / size > worst_relative) worst_relative = error / size;
    if (!(error <= absolute + relative * size) || !isfinite(g) || !isfinite(e)) ++bad;
  }
  // Numbers from 0 up are ordered as their bits are.
  if (bad > 0) atomicAdd(&result->bad, bad);
  if (worst_error > 0) atomicMax(&result->worst_error, __double_as_longlong(worst_error));
  if (worst_relative > 0) atomicMax(&result->worst_relative, __double_as_longlong(worst_relative));
}

#define COMPARISON(name, T)                                                                \
  extern "C" __global__ void name(const T* got, const T* expected, long long count,        \
                                  double absolute, double relative, Result* result) {      \
    compare(got, expected, count, absolute, relative, result);                             \
  }
COMPARISON(compare_f16, Half)
COMPARISON(compare_bf16, Brain)
COMPARISON(compare_f32, float)
COMPARISON(compare_f64, double)

extern "C" __global__ void compare_bytes(const unsigned char* got, const unsigned char* expected,
                                         long long count, double, double, Result* result) {
  const long long thread = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  const long long step = (long long)gridDim.x * blockDim.x;
  const bool whole = (((unsigned long long)got | (unsigned long long)expected) & 7) == 0;
  const long long words = whole ? count / 8 : 0;
  bool same = true;
  for (long long i = thread; i < words; i += step)
    same &= ((const unsigned long long*)got)[i] == ((const unsigned long long*)expected)[i];
  for (long long i = 8 * words + thread; i < count; i += step) same &= got[i] == expected[i];
  if (!same) atomicAdd(&result->bad, 1ull);
}
)";

struct Totals {  // of the kernels
  std::uint64_t bad = 0, worst_error = 0, worst_relative = 0;
};

// The kernel for a comparison; nullptr when the GPU cannot make it.
const char* kernel_for(problem::ElementType type, double absolute, double relative) {
  using problem::ElementType;
  switch (type) {
    case ElementType::kF16:
      return "compare_f16";
    case ElementType::kBF16:
      return "compare_bf16";
    case ElementType::kF32:
      return "compare_f32";
    case ElementType::kF64:
      return "compare_f64";
    default:
      return absolute == 0 && relative == 0 ? "compare_bytes" : nullptr;
  }
}

double number_of(std::uint64_t bits) {
  double number = 0;
  std::memcpy(&number, &bits, sizeof(number));
  return number;
}

}  // namespace

struct Comparer::Owner {
  std::shared_ptr<GpuContext> gpu;
  ModuleHandle module = nullptr;
  DevicePointer result = 0;
  ~Owner() {
    if (result != 0) gpu->call().memory_free(result);
    if (module != nullptr) gpu->call().module_unload(module);
  }
};

std::string comparison_source(std::string_view half_to_float) {
  return fmt::format("__device__ float half_to_float(unsigned short bits) {{\n  {}\n}}\n{}",
                     half_to_float, kSource);
}

Result<Comparer> Comparer::create(std::shared_ptr<GpuContext> gpu, const std::string& module) {
  Comparer comparer(gpu);
  comparer.module_ = std::make_shared<Owner>();
  Owner& owner = *comparer.module_;
  owner.gpu = gpu;
  HONE_TRY(gpu->check(gpu->call().module_load(&owner.module, module.c_str(), 0, nullptr, nullptr),
                      "loading hone's own kernels"));
  HONE_TRY(gpu->check(gpu->call().memory_allocate(&owner.result, sizeof(Totals)), "taking memory"));
  return comparer;
}

Result<std::optional<Difference>> Comparer::difference(const void* got, const void* expected,
                                                       problem::ElementType type,
                                                       std::int64_t count, double absolute,
                                                       double relative) {
  const char* const name = kernel_for(type, absolute, relative);
  if (name == nullptr) return std::nullopt;
  if (std::string_view(name) == "compare_bytes") count *= problem::byte_size(type);
  const BusyWait busy(*gpu_);
  const DriverApi& call = gpu_->call();
  FunctionHandle function = nullptr;
  HONE_TRY(gpu_->check(call.module_function(&function, module_->module, name), name));
  Totals result;
  HONE_TRY(gpu_->check(call.copy_to_device(module_->result, &result, sizeof(result)), name));
  void* arguments[] = {&got, &expected, &count, &absolute, &relative, &module_->result};
  constexpr unsigned kThreads = 256;
  const auto blocks = static_cast<unsigned>(std::clamp<std::int64_t>(
      (count + kThreads - 1) / kThreads, 1, std::int64_t{16} * gpu_->facts().units));
  HONE_TRY(gpu_->check(
      call.launch(function, blocks, 1, 1, kThreads, 1, 1, 0, nullptr, arguments, nullptr),
      "comparing on the GPU"));
  HONE_TRY(gpu_->check(call.copy_to_host(&result, module_->result, sizeof(result)),
                       "comparing on the GPU"));
  return Difference{.right = result.bad == 0,
                    .worst_error = number_of(result.worst_error),
                    .worst_relative = number_of(result.worst_relative)};
}

}  // namespace hone::device::gpu
