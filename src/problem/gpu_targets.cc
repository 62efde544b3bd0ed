#include <algorithm>

#include "base/text.h"
#include "problem/target.h"

namespace hone::problem {
namespace {

constexpr std::int64_t kKiB = 1024;

// CUDA C++ Programming Guide 13, "Technical Specifications per Compute Capability": shared memory
// of a block (with opt-in) and of a multiprocessor, of which 1 KiB per block is the system's;
// resident warps and blocks. A multiprocessor has four partitions with 16384 registers each, 512
// for each of 32 lanes. `compiled_as`: the name this IREE (3.13) knows; it has no sm_90, and sm_80
// has the larger shared memory of the two below it.
GpuTarget nvidia(const char* arch, const char* compiled_as, std::int64_t block_kib,
                 std::int64_t unit_kib, int warps, int blocks) {
  GpuTarget target;
  target.arch = arch;
  target.compiled_as = compiled_as;
  target.backend = GpuBackend::kCuda;
  target.subgroup_sizes = {32};
  target.workgroup_memory_bytes = block_kib * kKiB;
  target.unit_memory_bytes = unit_kib * kKiB;
  target.reserved_memory_bytes = kKiB;
  target.unit_workgroups = blocks;
  target.subgroups_per_simd = warps / 4;
  return target;
}

// LLVM's AMDGPUBaseInfo.cpp (getTotalNumVGPRs, getVGPRAllocGranule, getMaxWavesPerEU) and the CDNA
// 3 and CDNA 4 ISA guides. gfx942 has 512 registers per lane, vector and accumulation ones
// together; LDS is of a compute unit.
GpuTarget cdna(const char* arch, std::int64_t memory_kib) {
  GpuTarget target;
  target.arch = arch;
  target.compiled_as = arch;
  target.backend = GpuBackend::kRocm;
  target.subgroup_sizes = {64};
  target.workgroup_memory_bytes = memory_kib * kKiB;
  target.unit_memory_bytes = memory_kib * kKiB;
  target.subgroups_per_simd = 8;
  target.registers_per_thread = 512;
  return target;
}

// These facts are from the same sources, for gfx11 and gfx12 with 1.5 times the registers
// (Feature1_5xVGPRs), in workgroup-processor mode, which LLVM's amdhsa targets use: 128 KiB, of
// which a workgroup may have 64.
GpuTarget rdna(const char* arch) {
  GpuTarget target;
  target.arch = arch;
  target.compiled_as = arch;
  target.backend = GpuBackend::kRocm;
  target.subgroup_sizes = {32, 64};
  target.workgroup_memory_bytes = 64 * kKiB;
  target.unit_memory_bytes = 128 * kKiB;
  target.subgroups_per_simd = 16;
  target.registers_per_lane = 1536;
  target.register_granule = 24;
  target.registers_per_thread = 256;
  return target;
}

int round_up(int value, int granule) {
  return (value + granule - 1) / granule * granule;
}

}  // namespace

std::string_view name_of(GpuBackend backend) {
  return backend == GpuBackend::kCuda ? "cuda" : "rocm";
}

const std::vector<GpuTarget>& known_gpu_targets() {
  static const std::vector<GpuTarget> kTargets = {nvidia("sm_80", "sm_80", 163, 164, 64, 32),
                                                  nvidia("sm_86", "sm_86", 99, 100, 48, 16),
                                                  nvidia("sm_89", "sm_89", 99, 100, 48, 24),
                                                  nvidia("sm_90", "sm_80", 227, 228, 64, 32),
                                                  cdna("gfx942", 64),
                                                  cdna("gfx950", 160),
                                                  rdna("gfx1100"),
                                                  rdna("gfx1201")};
  return kTargets;
}

bool names_gpu(std::string_view name) {
  return name.starts_with("sm_") || name.starts_with("gfx");
}

Result<GpuTarget> gpu_target(std::string_view name) {
  std::vector<std::string> names;
  for (const GpuTarget& target : known_gpu_targets()) {
    if (target.arch == name) return target;
    names.push_back(target.arch);
  }
  const std::string hint = did_you_mean(name, names);
  return input_error("hone does not know the GPU target '{}'{}; it knows {}", name, hint,
                     fmt::join(names, ", "));
}

std::int64_t compilable_workgroup_memory(const GpuTarget& target) {
  const auto compiled_as = gpu_target(target.compiled_as);
  if (!compiled_as) return target.workgroup_memory_bytes;
  return std::min(target.workgroup_memory_bytes, compiled_as->workgroup_memory_bytes);
}

double occupancy(const GpuTarget& target, const WorkgroupNeeds& needs) {
  const int subgroups =
      (std::max(1, needs.threads) + needs.subgroup_size - 1) / needs.subgroup_size;
  int per_simd = target.subgroups_per_simd;
  if (needs.registers > target.registers_per_thread) return 0;
  if (needs.registers > 0) {
    // A subgroup twice as wide as the lanes takes two of them.
    const int width = needs.subgroup_size / target.subgroup_sizes.front();
    const int each = round_up(needs.registers, target.register_granule) * std::max(1, width);
    per_simd = std::min(per_simd, target.registers_per_lane / each);
  }
  std::int64_t workgroups = static_cast<std::int64_t>(per_simd) * target.simds / subgroups;
  workgroups = std::min<std::int64_t>(workgroups, target.unit_workgroups);
  if (needs.memory_bytes > target.workgroup_memory_bytes) return 0;
  if (needs.memory_bytes > 0)
    workgroups = std::min(
        workgroups, target.unit_memory_bytes / (needs.memory_bytes + target.reserved_memory_bytes));
  const double slots = static_cast<double>(target.subgroups_per_simd) * target.simds;
  return std::min(1.0, static_cast<double>(workgroups * subgroups) / slots);
}

}  // namespace hone::problem
