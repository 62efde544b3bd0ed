#include "device/cuda/own_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "device/cuda/toolkit.h"

namespace hone::device::cuda {
namespace {

constexpr int kThreads = 1024;
constexpr int kBlocksPerMultiprocessor = 2;
constexpr int kChains = 8;  // independent results per thread, more than an instruction's latency

std::string module(const std::string& registers, const std::string& body) {
  return fmt::format(R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry kernel(.param .u64 address, .param .u32 rounds) {{
  .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<8>;
  {}
  ld.param.u64 %rd0, [address];
  ld.param.u32 %r0, [rounds];
{}  ret;
}}
)",
                     registers, body);
}

// Runs `step` %r0 times, then adds up registers %f0 to %f<numbers - 1> and stores the sum if it is
// a number that it cannot be.
std::string loop(const std::string& before, const std::string& step, int numbers) {
  std::string sum;
  for (int i = 1; i < numbers; ++i) sum += fmt::format("  add.f32 %f0, %f0, %f{};\n", i);
  return before + "again:\n" + step +
         "  sub.u32 %r0, %r0, 1;\n  setp.ne.u32 %p0, %r0, 0;\n  @%p0 bra again;\n" + sum +
         "  setp.eq.f32 %p1, %f0, 0f7F800000;\n  @%p1 st.global.f32 [%rd0], %f0;\n";
}

OwnKernel kernel(std::string code, int multiprocessors, std::uint32_t rounds, double flops) {
  const int blocks = multiprocessors * kBlocksPerMultiprocessor;
  return {.code = std::move(code),
          .parameters = {.entry = "kernel",
                         .grid = {static_cast<std::uint32_t>(blocks), 1, 1},
                         .block = {kThreads, 1, 1},
                         .constants = {rounds}},
          .flops = flops * blocks * kThreads * rounds};
}

}  // namespace

OwnKernel multiply_add_kernel(int multiprocessors, std::uint32_t rounds) {
  std::string before = "  mov.f32 %a, 0f3F000000;\n  mov.u32 %r1, %tid.x;\n", step;
  for (int i = 0; i < kChains; ++i) {
    before += fmt::format("  cvt.rn.f32.u32 %f{0}, %r1;\n  add.u32 %r1, %r1, 7;\n", i);
    step += fmt::format("  fma.rn.f32 %f{0}, %f{0}, %a, %a;\n", i);
  }
  return kernel(module(fmt::format(".reg .f32 %f<{}>, %a;", kChains), loop(before, step, kChains)),
                multiprocessors, rounds, 2.0 * kChains);
}

OwnKernel matrix_kernel(int multiprocessors, std::uint32_t rounds) {
  std::string before = "  mov.u32 %r1, 0x38003800;\n", step;  // two halves in f16
  for (int i = 0; i < 4 * kChains; ++i) before += fmt::format("  mov.f32 %f{}, 0f00000000;\n", i);
  for (int i = 0; i < kChains; ++i) {
    const std::string set =
        fmt::format("{{%f{}, %f{}, %f{}, %f{}}}", 4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3);
    step += fmt::format(
        "  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {0}, {{%r1, %r1, %r1, %r1}}, "
        "{{%r1, %r1}}, {0};\n",
        set);
  }
  // 2 x 16 x 8 x 16 operations of a warp of 32 threads.
  return kernel(
      module(fmt::format(".reg .f32 %f<{}>;", 4 * kChains), loop(before, step, 4 * kChains)),
      multiprocessors, rounds, 2.0 * 16 * 8 * 16 / 32 * kChains);
}

OwnKernel pause_kernel(std::uint32_t nanoseconds) {
  const std::string body = R"(  cvt.u64.u32 %rd1, %r0;
  mov.u64 %rd2, %globaltimer;
  add.u64 %rd1, %rd1, %rd2;
again:
  mov.u64 %rd2, %globaltimer;
  setp.lt.u64 %p0, %rd2, %rd1;
  @%p0 bra again;
)";
  return {.code = module("", body), .parameters = {.entry = "kernel", .constants = {nanoseconds}}};
}

namespace {

// Clocks ramp up during the first runs.
constexpr int kRuns = 12;
constexpr std::uint32_t kRounds = 20000;
constexpr std::size_t kMostCopied = std::size_t{1} << 30;

Result<double> flops_per_second(const std::shared_ptr<GpuContext>& gpu, GpuStopwatch& watch,
                                const OwnKernel& own) {
  HONE_ASSIGN(const auto kernel, CudaKernel::load(gpu, own.code, own.parameters));
  const Buffer nowhere{};
  double best = 0;
  for (int run = 0; run < kRuns; ++run) {
    HONE_TRY(watch.start());
    HONE_TRY(kernel->enqueue({&nowhere, 1}));
    HONE_ASSIGN(const double seconds, watch.stop());
    if (seconds > 0) best = std::max(best, own.flops / seconds);
  }
  return best;
}

Result<double> bytes_per_second(GpuContext& gpu, GpuStopwatch& watch) {
  const DriverApi& call = gpu.call();
  std::size_t free = 0, total = 0;
  HONE_TRY(gpu.check(call.memory_info(&free, &total), "asking for free memory"));
  const std::size_t bytes = std::min(kMostCopied, free / 8) / 512 * 512;
  DevicePointer memory = 0;
  HONE_TRY(gpu.check(call.memory_allocate(&memory, 2 * bytes), "taking memory"));
  double best = 0;
  Status status = gpu.check(call.set_bytes(memory, 1, 2 * bytes), "clearing memory");
  for (int run = 0; run < kRuns && status; ++run) {
    status = watch.start();
    if (status)
      status = gpu.check(call.copy_on_device(memory, memory + bytes, bytes, nullptr), "copying");
    const Result<double> seconds = watch.stop();
    if (seconds && *seconds > 0) best = std::max(best, 2.0 * static_cast<double>(bytes) / *seconds);
  }
  call.memory_free(memory);
  HONE_TRY(status);
  return best;
}

}  // namespace

Result<GpuStopwatch> GpuStopwatch::create(std::shared_ptr<GpuContext> gpu) {
  GpuStopwatch watch(std::move(gpu));
  for (EventHandle* event : {&watch.start_, &watch.end_})
    HONE_TRY(watch.gpu_->check(watch.gpu_->call().event_create(event, 0), "making an event"));
  return watch;
}

GpuStopwatch::~GpuStopwatch() {
  for (EventHandle event : {start_, end_})
    if (event != nullptr) gpu_->call().event_destroy(event);
}

GpuStopwatch::GpuStopwatch(GpuStopwatch&& other) noexcept
    : gpu_(other.gpu_),
      start_(std::exchange(other.start_, nullptr)),
      end_(std::exchange(other.end_, nullptr)) {}

Status GpuStopwatch::start() {
  return gpu_->check(gpu_->call().event_record(start_, nullptr), "starting to time");
}

Result<double> GpuStopwatch::stop() {
  const DriverApi& call = gpu_->call();
  HONE_TRY(gpu_->check(call.event_record(end_, nullptr), "ending to time"));
  HONE_TRY(gpu_->check(call.event_synchronize(end_), "running the kernel"));
  float milliseconds = 0;
  HONE_TRY(gpu_->check(call.event_milliseconds(&milliseconds, start_, end_), "timing"));
  return static_cast<double>(milliseconds) * 1e-3;
}

double tensor_flops_per_clock(int capability) {
  switch (capability) {
    case 80:
      return 2048;
    case 86:
      return 512;
    case 90:
      return 4096;
    case 100:
      return 8192;
    default:
      return 0;
  }
}

Result<Peak> measure_peak(const std::shared_ptr<GpuContext>& gpu) {
  HONE_ASSIGN(GpuStopwatch watch, GpuStopwatch::create(gpu));
  const int multiprocessors = gpu->facts().multiprocessors;
  Peak peak;
  HONE_ASSIGN(const double flops,
              flops_per_second(gpu, watch, multiply_add_kernel(multiprocessors, kRounds)));
  HONE_ASSIGN(const double matrix,
              flops_per_second(gpu, watch, matrix_kernel(multiprocessors, kRounds / 4)));
  HONE_ASSIGN(const double bytes, bytes_per_second(*gpu, watch));
  peak.gflops = flops * 1e-9;
  peak.matrix_gflops = matrix * 1e-9;
  peak.stated_matrix_gflops = tensor_flops_per_clock(gpu->facts().capability) * multiprocessors *
                              gpu->facts().megahertz * 1e-3;
  peak.gbytes_per_second = bytes * 1e-9;
  peak.instructions = fmt::format("{} fma.f32, mma.sync f16", gpu->facts().arch());
  peak.threads = multiprocessors;
  return peak;
}

namespace {

// Compares by the rule of measure::compare, except that NaN is never right here: the host then
// decides.
constexpr const char* kSource = R"(
struct Result { unsigned long long bad, worst_error, worst_relative; };

__device__ double number(float x) { return x; }
__device__ double number(double x) { return x; }
struct Half { unsigned short bits; };
__device__ double number(Half x) {
  float wide;
  asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(x.bits));
  return wide;
}
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

std::string comparison_source() {
  return kSource;
}

Result<Comparer> Comparer::create(std::shared_ptr<GpuContext> gpu) {
  HONE_ASSIGN(const std::string ptx, compile_cuda(kSource));
  Comparer comparer(gpu);
  comparer.module_ = std::make_shared<Owner>();
  Owner& owner = *comparer.module_;
  owner.gpu = gpu;
  HONE_TRY(gpu->check(gpu->call().module_load(&owner.module, ptx.c_str(), 0, nullptr, nullptr),
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
      (count + kThreads - 1) / kThreads, 1, std::int64_t{16} * gpu_->facts().multiprocessors));
  HONE_TRY(gpu_->check(
      call.launch(function, blocks, 1, 1, kThreads, 1, 1, 0, nullptr, arguments, nullptr),
      "comparing on the GPU"));
  HONE_TRY(gpu_->check(call.copy_to_host(&result, module_->result, sizeof(result)),
                       "comparing on the GPU"));
  return Difference{.right = result.bad == 0,
                    .worst_error = number_of(result.worst_error),
                    .worst_relative = number_of(result.worst_relative)};
}

}  // namespace hone::device::cuda
