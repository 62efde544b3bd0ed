#include "device/hip/own_kernels.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "device/gpu/comparer.h"
#include "device/gpu/runtime_compiler.h"
#include "device/hip/driver.h"

namespace hone::device::hip {
namespace {

namespace fs = std::filesystem;

constexpr int kChains = 8;    // independent results per thread, more than an instruction's latency
constexpr int kMatrices = 4;  // independent ones of a wave, of 16 registers each
constexpr int kUsualTimerKilohertz = 100'000;  // of MI200 and MI300

// The pause polls a clock that no power state changes; the others store only a sum that cannot be.
constexpr const char* kSource = R"(
extern "C" __global__ void hone_pause(unsigned long long, unsigned nanoseconds) {
  const long long ticks = (long long)nanoseconds * TIMER_KILOHERTZ / 1000000;
  const long long end = wall_clock64() + ticks;
  while (wall_clock64() < end) __builtin_amdgcn_s_sleep(1);
}

extern "C" __global__ __launch_bounds__(1024) void hone_multiply_add(unsigned long long address,
                                                                     unsigned rounds) {
  float x[CHAINS];
  for (int i = 0; i < CHAINS; ++i) x[i] = threadIdx.x + 7 * i;
  for (; rounds != 0; --rounds)
    for (int i = 0; i < CHAINS; ++i) x[i] = __builtin_fmaf(x[i], 0.5f, 0.5f);
  float sum = 0;
  for (int i = 0; i < CHAINS; ++i) sum += x[i];
  if (sum == __builtin_inff()) *(float*)address = sum;
}

#if MATRIX_CORES
typedef _Float16 Halves __attribute__((ext_vector_type(4)));
typedef float Sums __attribute__((ext_vector_type(16)));
extern "C" __global__ __launch_bounds__(1024) void hone_matrix(unsigned long long address,
                                                               unsigned rounds) {
  const Halves halves = {0.5f16, 0.5f16, 0.5f16, 0.5f16};
  Sums x[MATRICES] = {};
  for (; rounds != 0; --rounds)
    for (int i = 0; i < MATRICES; ++i)
      x[i] = __builtin_amdgcn_mfma_f32_32x32x8f16(halves, halves, x[i], 0, 0, 0);
  float sum = 0;
  for (int i = 0; i < MATRICES; ++i)
    for (int j = 0; j < 16; ++j) sum += x[i][j];
  if (sum == __builtin_inff()) *(float*)address = sum;
}
#endif
)";

bool has_matrix_cores(std::string_view arch) {
  return arch == "gfx908" || arch == "gfx90a" || arch == "gfx942" || arch == "gfx950";
}

// Compiles a source when its code is first asked for.
class LazyCode {
 public:
  LazyCode(std::string source, std::string arch, std::string driver_library)
      : source_(std::move(source)),
        arch_(std::move(arch)),
        driver_library_(std::move(driver_library)) {}

  const Result<std::string>& get() {
    if (!code_) code_ = compile_hip(source_, arch_, hiprtc_names(driver_library_));
    return *code_;
  }

 private:
  std::string source_, arch_, driver_library_;
  std::optional<Result<std::string>> code_;
};

}  // namespace

std::vector<std::string> hiprtc_names(const std::string& driver_library) {
  const fs::path driver = driver_library;
  std::vector<std::string> names;
  std::error_code error;
  if (driver.has_parent_path()) {
    names = library_names("libhiprtc", driver.parent_path().string());
    std::erase_if(names, [&](const std::string& name) { return !fs::exists(name, error); });
  }
  for (std::string& name : library_names("libhiprtc", "")) names.push_back(std::move(name));
  names.push_back(driver_library);
  return names;
}

Result<std::string> compile_hip(const std::string& source, const std::string& arch,
                                const std::vector<std::string>& names) {
  const auto library = SharedLibrary::open(names);
  auto code = library ? gpu::compile_source(*library, {"libhiprtc", "hiprtc", "Code"}, source,
                                            {"--offload-arch=" + arch, "-O3"})
                      : tl::unexpected(library.error());
  if (!code && code.error().kind == ErrorKind::kEnvironment)
    return environment_error("AMD's run-time compiler (libhiprtc) is not on this machine");
  return code;
}

std::string work_source(std::string_view arch, int timer_kilohertz) {
  return fmt::format(
      "#define TIMER_KILOHERTZ {}\n#define CHAINS {}\n#define MATRICES {}\n#define MATRIX_CORES "
      "{}\n{}",
      timer_kilohertz, kChains, kMatrices, has_matrix_cores(arch) ? 1 : 0, kSource);
}

double matrix_flops_per_clock(std::string_view arch) {
  constexpr std::pair<std::string_view, double> kFlops[] = {
      {"gfx908", 1024}, {"gfx90a", 1024}, {"gfx942", 2048}, {"gfx950", 4096}};
  for (const auto& [name, flops] : kFlops)
    if (name == arch) return flops;
  return 0;
}

gpu::OwnKernels own_kernels(const gpu::GpuContext& gpu) {
  const gpu::GpuFacts& facts = gpu.facts();
  const std::string& library = gpu.driver().library();
  int kilohertz = 0;
  if (gpu.call().device_attribute(&kilohertz, kAttributeWallClockRate, gpu.handle()) != 0 ||
      kilohertz <= 0)
    kilohertz = kUsualTimerKilohertz;
  const auto work =
      std::make_shared<LazyCode>(work_source(facts.arch, kilohertz), facts.arch, library);
  const auto comparison = std::make_shared<LazyCode>(
      gpu::comparison_source("return (float)__builtin_bit_cast(_Float16, bits);"), facts.arch,
      library);
  const int units = facts.units;
  const auto repeated = [work, units](const char* entry, std::uint32_t rounds, double flops) {
    return work->get().map([&](const std::string& code) {
      return gpu::work_kernel(code, entry, units, rounds, flops);
    });
  };
  // 2 x 32 x 32 x 8 operations of a wave of 64 threads.
  constexpr double kMatrixFlops = 2.0 * 32 * 32 * 8 / 64 * kMatrices;
  return {
      .pause =
          [work](std::uint32_t nanoseconds) {
            return work->get().map([&](const std::string& code) {
              return gpu::OwnKernel{
                  .code = code, .parameters = {.entry = "hone_pause", .constants = {nanoseconds}}};
            });
          },
      .multiply_add =
          [repeated](std::uint32_t rounds) {
            return repeated("hone_multiply_add", rounds, 2.0 * kChains);
          },
      .matrix = [repeated, arch = facts.arch](std::uint32_t rounds) -> Result<gpu::OwnKernel> {
        if (!has_matrix_cores(arch))
          return failure("hone has no kernel of matrix instructions for {}", arch);
        return repeated("hone_matrix", rounds, kMatrixFlops);
      },
      .comparison = [comparison] { return comparison->get(); },
      .instructions = "v_fma_f32, v_mfma_f32_32x32x8_f16",
      .stated_matrix_gflops = matrix_flops_per_clock(facts.arch) * units* facts.megahertz * 1e-3};
}

}  // namespace hone::device::hip
