#include "provider/triton/gemm_device.h"

#include <fmt/format.h>

#include <charconv>
#include <vector>

#include "base/text.h"

namespace hone::triton {
namespace {

constexpr std::int64_t kKiB = 1024;
constexpr std::int64_t kMiB = 1024 * kKiB;

// Figures in which a maker's products differ. Shared memory is that of a unit; L2 and all rates are
// those of the device.
struct GpuModel {
  const char* name;
  int units;
  std::int64_t shared_kib, l2_mib;
  double memory, l2, shared;      // GB/s
  double f16, f8, i8, tf32, f32;  // TFLOP/s
};

// Shared memory and registers: CUDA C++ Programming Guide 13, "Technical Specifications per Compute
// Capability". Rates and memory: the data sheets and architecture papers of the A100 (40 GB), RTX
// A6000, L40S, H200 SXM and B200, dense. Shared memory gives a unit 128 bytes in each clock. L2
// gives it 64 (a 64 x 128 x 128 kernel on an H200 was seen to read at that rate), and on the A100
// all of them 5120; for sm_86 and sm_89 as published measurements say. Before sm_89 8-bit floats
// are widened.
constexpr GpuModel kNvidia[] = {
    {"80", 108, 163, 40, 1555, 7200, 19500, 312, 312, 624, 156, 19.5},
    {"86", 84, 99, 6, 768, 4000, 19300, 154.8, 154.8, 309.7, 77.4, 38.7},
    {"89", 142, 99, 96, 864, 6000, 45800, 362, 733, 733, 183, 91.6},
    {"90", 132, 227, 50, 4800, 15500, 30900, 989, 1979, 1979, 494, 67},
    {"100", 148, 227, 126, 8000, 18600, 35000, 2250, 4500, 4500, 1125, 75},
};

// CDNA 3 and CDNA 4 white papers and the data sheets of the MI300X and MI355X. A compute unit has
// four SIMDs with 512 registers for each of 64 lanes, vector and accumulation ones together.
// Across the dies of a package what serves re-reads is the Infinity Cache (256 MiB, 17 TB/s). LDS
// gives 128 bytes in each clock of a unit, on CDNA 4 256. gfx942's matrix units know the FNUZ
// formats, and OCP's are converted; gfx950 has no xf32.
constexpr GpuModel kCdna[] = {
    {"gfx942", 304, 64, 256, 5300, 17000, 81700, 1307, 1307, 2615, 654, 163},
    {"gfx950", 256, 160, 256, 8000, 17000, 157000, 2517, 5033, 5033, 157, 157},
};

// RDNA 3 ISA guide and the data sheet of the RX 7900 XTX. A unit is a workgroup processor, four
// SIMDs with 1536 registers for each of 32 lanes and 128 KiB of LDS, of which a workgroup may
// have 64. What serves re-reads is the Infinity Cache.
constexpr GpuModel kRdna = {"gfx1100", 48, 64, 96, 960, 5000, 30700, 123, 123, 123, 61, 61};

GemmDevice device_of(const GpuModel& product, const char* backend) {
  GemmDevice device;
  device.backend = backend;
  device.arch = product.name;
  device.units = product.units;
  device.shared_bytes = device.unit_shared_bytes = product.shared_kib * kKiB;
  device.l2_bytes = product.l2_mib * kMiB;
  device.memory_gbytes_per_second = product.memory;
  device.l2_gbytes_per_second = product.l2;
  device.shared_gbytes_per_second = product.shared;
  device.f16_tflops = product.f16;
  device.f8_tflops = product.f8;
  device.i8_tflops = product.i8;
  device.tf32_tflops = product.tf32;
  device.f32_tflops = product.f32;
  return device;
}

std::vector<GemmDevice> all_devices() {
  std::vector<GemmDevice> devices;
  for (const GpuModel& product : kNvidia) {
    GemmDevice& device = devices.emplace_back(device_of(product, "cuda"));
    device.unit_shared_bytes += kKiB;
    device.unit_registers = 65536;
    device.thread_registers = 255;
  }
  for (const GpuModel& product : kCdna) {
    GemmDevice& device = devices.emplace_back(device_of(product, "hip"));
    device.warp = 64;
    device.unit_registers = std::int64_t{4} * 512 * 64;
    device.thread_registers = 512;
  }
  GemmDevice& rdna = devices.emplace_back(device_of(kRdna, "hip"));
  rdna.unit_shared_bytes = 128 * kKiB;
  rdna.unit_registers = std::int64_t{4} * 1536 * 32;
  rdna.thread_registers = 256;
  return devices;
}

}  // namespace

int GemmDevice::capability() const {
  int number = 0;
  if (is_cuda()) std::from_chars(arch.data(), arch.data() + arch.size(), number);
  return number;
}

Result<GemmDevice> gemm_device(std::string_view target) {
  std::vector<std::string> names;
  for (const GemmDevice& device : all_devices()) {
    const std::string name = (device.is_cuda() ? "sm_" : "") + device.arch;
    if (name == target) return device;
    names.push_back(name);
  }
  return input_error("hone's Triton kernels are not for the target '{}'{}; they are for {}", target,
                     did_you_mean(target, names), fmt::join(names, ", "));
}

bool on_matrix_units(const Gemm& gemm, const GemmDevice& device) {
  return gemm.a != problem::ElementType::kF32 || gemm.tf32 || device.is_cdna();
}

bool has_warpgroup_instructions(const Gemm& gemm, const GemmDevice& device) {
  if (device.capability() < 90 || !on_matrix_units(gemm, device)) return false;
  return device.capability() > 90 || problem::byte_size(gemm.a) != 1 ||
         (gemm.a_rows && !gemm.b_rows);
}

Status check(const Gemm& gemm, const GemmDevice& device) {
  const bool e4m3 =
      gemm.a == problem::ElementType::kF8E4M3 || gemm.b == problem::ElementType::kF8E4M3;
  if (device.is_cuda() && device.capability() < 89 && e4m3)
    return input_error("sm_{} has no f8E4M3FN; it needs sm_89 or later, f8E5M2 works here",
                       device.arch);
  if (!device.is_cuda() && gemm.tf32 && device.arch != "gfx942")
    return input_error("{} has no tf32; leave it out, or use gfx942", device.arch);
  return {};
}

}  // namespace hone::triton
