// Tuning configurations of an operation: the old tool's tile lists in the form of today's compiler,
// and its default.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "profiler/operation.h"

namespace hone::profiler {

// Configuration as a file has it.
struct TileConfiguration {
  std::string name;  // "tile_config_128x128_32x5_tensorcore_mmasync", "tile_config_default"
  std::string compilation_info;  // MLIR text of the attribute on the root operation; empty: the
                                 // compiler's own choice

  bool operator==(const TileConfiguration&) const = default;
};

// Returns the CSV columns "Tile config", "Core class" and "Instruction class", read from the name;
// all are "Default" for the default configuration.
std::vector<std::pair<std::string, std::string>> configuration_columns(std::string_view name);

// Tile of the old lists. A workgroup computes `m` x `n` x `k` elements. Today's compiler has no
// `stages` of shared memory on a CUDA target: only the name keeps them. The subgroups along m and n
// follow from the old block sizes.
struct Tile {
  std::int64_t m, n, k, stages;
  std::int64_t subgroups_m, subgroups_n;

  // "128x128_32x5"
  std::string name() const;
  // Returns the bytes of shared memory that the old tool asked for: both operands, in every stage.
  std::int64_t shared_memory_bytes(std::int64_t lhs_bytes, std::int64_t rhs_bytes) const;
};

// Target that dispatches are generated for.
struct GenerationTarget {
  bool is_cuda = true;
  std::string arch = "sm_80";                     // empty: this machine's CPU
  std::int64_t shared_memory_bytes = 163 * 1024;  // that a workgroup may have
};
// Return the target of an architecture. Input errors: those of problem::gpu_target, and an
// architecture of the other kind.
Result<GenerationTarget> cuda_target(std::string_view arch);
Result<GenerationTarget> rocm_target(std::string_view arch);
GenerationTarget cpu_target();

// Skipped dispatch and the reason: "... are not divided by ...".
struct SkippedDispatch {
  std::string dispatch;
  std::string reason;
};

// Returns the old lists' configurations for the operation, in the old order: the f16 list for f16
// and bf16, the f32 list for f32. A configuration is valid if
// - the target is CUDA and its tensor cores take these types (today's compiler takes neither f32,
//   which was TF32, nor s8);
// - the tile divides the product's m, n and k (of a slice, where k is split);
// - the old tool's shared memory, all stages, fits (163 KiB of sm_80, 99 KiB of sm_86).
// Adds the others to `left_out`. Empty for attention, and for a convolution with groups. For
// another convolution a tile is m output pixels, a rectangle that has to tile the output, by n
// filters.
std::vector<TileConfiguration> tile_configurations(const NamedOperation& operation,
                                                   const GenerationTarget& target,
                                                   std::vector<SkippedDispatch>& left_out);

// Returns the compiler's own choice.
TileConfiguration default_configuration();

}  // namespace hone::profiler
