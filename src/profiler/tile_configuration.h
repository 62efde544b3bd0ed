// Tuning configurations of an operation: the old tool's tile lists, as today's compiler takes them,
// and its default.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "profiler/operation.h"

namespace hone::profiler {

// A configuration as a file has it.
struct Configuration {
  std::string name;  // "tile_config_128x128_32x5_tensorcore_mmasync", "tile_config_default"
  std::string compilation_info;  // MLIR text of the attribute on the root operation; empty: the
                                 // compiler's own choice

  bool operator==(const Configuration&) const = default;
};

// "Default", or what the name says, for the columns of the CSV file ("Tile config", "Core class",
// "Instruction class").
std::vector<std::pair<std::string, std::string>> configuration_columns(std::string_view name);

// A tile of the old lists. `m` x `n` x `k` elements of one workgroup; `stages` of shared memory,
// which a CUDA target of today's compiler does not have (the name alone remembers them); subgroups
// along m and n, from the old block sizes.
struct Tile {
  std::int64_t m, n, k, stages;
  std::int64_t subgroups_m, subgroups_n;

  // "128x128_32x5"
  std::string name() const;
  // What the old tool asked for: both operands, in every stage. Bytes.
  std::int64_t shared_memory_bytes(std::int64_t lhs_bytes, std::int64_t rhs_bytes) const;
};

// The old lists, in the old order: for operands of 16 bits, and for f32.
std::span<const Tile> f16_tiles();
std::span<const Tile> f32_tiles();

// What dispatches are generated for.
struct GenerationTarget {
  bool is_cuda = true;
  std::string arch = "sm_80";                     // empty: this machine's CPU
  std::int64_t shared_memory_bytes = 163 * 1024;  // that a workgroup may have
};
// Input errors of problem::gpu_target, and for an architecture of the other kind.
Result<GenerationTarget> cuda_target(std::string_view arch);
Result<GenerationTarget> rocm_target(std::string_view arch);
GenerationTarget cpu_target();

// A configuration of the old lists that is not generated for an operation, and why: "... are not
// divided by ...".
struct LeftOut {
  std::string dispatch;
  std::string reason;
};

// The configurations of the old lists for the operation, in the old order: of f16 and bf16 the f16
// list, of f32 the f32 list, each only where
// - the target is CUDA and its tensor cores take these types (f32 was TF32, which today's compiler
// does not have, and
//   s8 it does not have either);
// - the tile divides the product's m, n and k (of a slice, where k is split);
// - the old tool's shared memory, all stages, fits (163 KiB of sm_80, 99 KiB of sm_86).
// What is not is added to `left_out`. None for attention, and for a convolution with groups. Of
// another convolution a tile is m output pixels, a rectangle that has to tile the output, by n
// filters.
std::vector<Configuration> tile_configurations(const Operation& operation,
                                               const GenerationTarget& target,
                                               std::vector<LeftOut>& left_out);

// What the compiler chooses.
Configuration default_configuration();

}  // namespace hone::profiler
