// Plain facts of a compile target. A device fills them from the machine, a test by hand; nothing
// here asks the machine.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fields.h"
#include "base/result.h"

namespace hone::problem {

struct CpuTarget {
  std::string cpu;                      // model as the operating system names it
  std::vector<std::string> features;    // as /proc/cpuinfo spells them
  int vector_bits = 128;                // widest vector register: 512 with AVX-512, 256 with AVX2
  int vector_registers = 16;            // architectural: 32 with AVX-512, else 16
  std::int64_t l1d_bytes = 32 * 1024;   // of one core
  std::int64_t l2_bytes = 1024 * 1024;  // of one core
  std::int64_t l3_bytes = 0;            // shared by all; 0 where there is none
  int cores = 1;                        // this process may run on

  bool operator==(const CpuTarget&) const = default;

  static void fields(auto& target, auto&& field) {
    field("cpu", target.cpu);
    field("features", target.features);
    field("vector_bits", target.vector_bits);
    field("vector_registers", target.vector_registers);
    field("l1d_bytes", target.l1d_bytes);
    field("l2_bytes", target.l2_bytes);
    field("l3_bytes", target.l3_bytes);
    field("cores", target.cores);
  }
};

enum class GpuBackend { kCuda, kRocm };
std::string_view name_of(GpuBackend backend);  // "cuda", "rocm"

// A GPU architecture. A *unit* runs a workgroup as a whole: a multiprocessor (NVIDIA), a compute
// unit (gfx9) or a workgroup processor (gfx11, gfx12). Sources are beside the numbers in
// gpu_targets.cc.
struct GpuTarget {
  std::string arch;         // "sm_90", "gfx942"
  std::string compiled_as;  // what the compiler is asked for where it does not know `arch`
  GpuBackend backend = GpuBackend::kCuda;
  std::vector<int> subgroup_sizes;          // the compiler's preferred one first
  int max_threads = 1024;                   // of a workgroup
  std::int64_t workgroup_memory_bytes = 0;  // shared memory (LDS) one workgroup may have
  std::int64_t unit_memory_bytes = 0;       // of a unit, shared by its workgroups
  std::int64_t reserved_memory_bytes = 0;   // of a unit's memory, taken by the system per workgroup
  int unit_workgroups = 32;                 // most in flight on a unit
  int simds = 4;                            // of a unit
  int subgroups_per_simd = 16;              // most in flight
  int registers_per_lane = 512;             // 32-bit ones of a SIMD, shared by its subgroups
  int register_granule = 8;                 // they are given out in multiples of it
  int registers_per_thread = 255;           // most one thread may have
};

// The architectures hone has facts of, by name.
const std::vector<GpuTarget>& known_gpu_targets();
// Whether `name` is meant for a GPU: "sm_..." or "gfx...".
bool names_gpu(std::string_view name);
// An input error with the nearest names for one that hone does not know.
Result<GpuTarget> gpu_target(std::string_view name);

// Shared memory, in bytes, that a workgroup may have: the smaller limit of the device and of the
// target that the compiler compiles for (`compiled_as`).
std::int64_t compilable_workgroup_memory(const GpuTarget& target);

// Resources of a unit that a kernel's workgroup takes.
struct WorkgroupNeeds {
  int threads = 1;
  int subgroup_size = 32;
  int registers = 0;  // of a thread; 0: not known, no limit
  std::int64_t memory_bytes = 0;
};
// The share of a unit's subgroup slots that such workgroups fill, in [0, 1]; 0 when not even one
// workgroup fits.
double occupancy(const GpuTarget& target, const WorkgroupNeeds& needs);

}  // namespace hone::problem
