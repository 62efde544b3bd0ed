#include "provider/triton/gemm_device.h"

#include <fmt/format.h>

#include <charconv>

#include "base/text.h"

namespace hone::triton {
namespace {

constexpr std::int64_t kKiB = 1024;
constexpr std::int64_t kMiB = 1024 * kKiB;

// Shared memory and registers: CUDA C++ Programming Guide 13, "Technical Specifications per Compute
// Capability". Rates and memory: the data sheets and architecture papers of the A100 (40 GB), RTX
// A6000, L40S, H200 SXM and B200, dense. Shared memory gives a unit 128 bytes in each clock. L2
// gives it 64 (a 64 x 128 x 128 kernel on an H200 was seen to read at that rate), and on the A100
// all of them 5120; for sm_86 and sm_89 as published measurements say.
GemmDevice nvidia(const char* arch, int units, std::int64_t shared_kib) {
  GemmDevice device;
  device.backend = "cuda";
  device.arch = arch;
  device.units = units;
  device.shared_bytes = shared_kib * kKiB;
  device.unit_shared_bytes = (shared_kib + 1) * kKiB;
  device.unit_registers = 65536;
  device.thread_registers = 255;
  return device;
}

GemmDevice sm_80() {
  GemmDevice device = nvidia("80", 108, 163);
  device.l2_bytes = 40 * kMiB;
  device.memory_gbytes_per_second = 1555;
  device.l2_gbytes_per_second = 7200;
  device.shared_gbytes_per_second = 19500;
  device.f16_tflops = device.f8_tflops = 312;  // 8-bit floats are widened
  device.i8_tflops = 624;
  device.tf32_tflops = 156;
  device.f32_tflops = 19.5;
  return device;
}

GemmDevice sm_86() {
  GemmDevice device = nvidia("86", 84, 99);
  device.l2_bytes = 6 * kMiB;
  device.memory_gbytes_per_second = 768;
  device.l2_gbytes_per_second = 4000;
  device.shared_gbytes_per_second = 19300;
  device.f16_tflops = device.f8_tflops = 154.8;
  device.i8_tflops = 309.7;
  device.tf32_tflops = 77.4;
  device.f32_tflops = 38.7;
  return device;
}

GemmDevice sm_89() {
  GemmDevice device = nvidia("89", 142, 99);
  device.l2_bytes = 96 * kMiB;
  device.memory_gbytes_per_second = 864;
  device.l2_gbytes_per_second = 6000;
  device.shared_gbytes_per_second = 45800;
  device.f16_tflops = 362;
  device.f8_tflops = device.i8_tflops = 733;
  device.tf32_tflops = 183;
  device.f32_tflops = 91.6;
  return device;
}

GemmDevice sm_90() {
  GemmDevice device = nvidia("90", 132, 227);
  device.l2_bytes = 50 * kMiB;
  device.memory_gbytes_per_second = 4800;
  device.l2_gbytes_per_second = 15500;
  device.shared_gbytes_per_second = 30900;
  device.f16_tflops = 989;
  device.f8_tflops = device.i8_tflops = 1979;
  device.tf32_tflops = 494;
  device.f32_tflops = 67;
  return device;
}

GemmDevice sm_100() {
  GemmDevice device = nvidia("100", 148, 227);
  device.l2_bytes = 126 * kMiB;
  device.memory_gbytes_per_second = 8000;
  device.l2_gbytes_per_second = 18600;
  device.shared_gbytes_per_second = 35000;
  device.f16_tflops = 2250;
  device.f8_tflops = device.i8_tflops = 4500;
  device.tf32_tflops = 1125;
  device.f32_tflops = 75;
  return device;
}

// CDNA 3 and CDNA 4 white papers and the data sheets of the MI300X and MI355X. A compute unit has
// four SIMDs with 512 registers for each of 64 lanes, vector and accumulation ones together.
// Across the dies of a package what serves re-reads is the Infinity
// Cache (256 MiB, 17 TB/s). LDS gives 128 bytes in each clock of a unit, on CDNA 4 256.
GemmDevice cdna(const char* arch, int units, std::int64_t shared_kib) {
  GemmDevice device;
  device.backend = "hip";
  device.arch = arch;
  device.units = units;
  device.warp = 64;
  device.shared_bytes = device.unit_shared_bytes = shared_kib * kKiB;
  device.unit_registers = std::int64_t{4} * 512 * 64;
  device.thread_registers = 512;
  device.l2_bytes = 256 * kMiB;
  return device;
}

GemmDevice gfx942() {
  GemmDevice device = cdna("gfx942", 304, 64);
  device.memory_gbytes_per_second = 5300;
  device.l2_gbytes_per_second = 17000;
  device.shared_gbytes_per_second = 81700;
  device.f16_tflops = 1307;
  device.f8_tflops = 1307;  // OCP's formats are converted: the matrix units know the FNUZ ones
  device.i8_tflops = 2615;
  device.tf32_tflops = 654;
  device.f32_tflops = 163;
  return device;
}

GemmDevice gfx950() {
  GemmDevice device = cdna("gfx950", 256, 160);
  device.memory_gbytes_per_second = 8000;
  device.l2_gbytes_per_second = 17000;
  device.shared_gbytes_per_second = 157000;
  device.f16_tflops = 2517;
  device.f8_tflops = device.i8_tflops = 5033;
  device.tf32_tflops = device.f32_tflops = 157;  // it has no xf32
  return device;
}

// RDNA 3 ISA guide and the data sheet of the RX 7900 XTX. A unit is a workgroup processor, four
// SIMDs with 1536 registers for each of 32 lanes and 128 KiB of LDS, of which a workgroup may
// have 64.
GemmDevice gfx1100() {
  GemmDevice device;
  device.backend = "hip";
  device.arch = "gfx1100";
  device.units = 48;
  device.shared_bytes = 64 * kKiB;
  device.unit_shared_bytes = 128 * kKiB;
  device.unit_registers = std::int64_t{4} * 1536 * 32;
  device.thread_registers = 256;
  device.l2_bytes = 96 * kMiB;  // the Infinity Cache
  device.memory_gbytes_per_second = 960;
  device.l2_gbytes_per_second = 5000;
  device.shared_gbytes_per_second = 30700;
  device.f16_tflops = device.f8_tflops = device.i8_tflops = 123;
  device.tf32_tflops = device.f32_tflops = 61;
  return device;
}

}  // namespace

int GemmDevice::capability() const {
  int number = 0;
  if (is_cuda()) std::from_chars(arch.data(), arch.data() + arch.size(), number);
  return number;
}

Result<GemmDevice> gemm_device(std::string_view target) {
  std::vector<std::string> names;
  for (const GemmDevice& device :
       {sm_80(), sm_86(), sm_89(), sm_90(), sm_100(), gfx942(), gfx950(), gfx1100()}) {
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
