// Contractions and convolutions as hone's own kernels for CPUs compute them: outer products of
// vector registers.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "problem/statement.h"

namespace hone::iree {

// Limit of a kernel's memory on the stack: --iree-llvmcpu-stack-allocation-limit, its default.
inline constexpr std::int64_t kStackBytes = 32768;
inline constexpr std::int64_t kElementBytes = 4;  // of an f32
inline constexpr std::int64_t kFewestLanes = 4;   // of a vector

// Loop of a kernel, and how many elements each use moves along it.
struct KernelLoop {
  std::int64_t size = 1;
  std::vector<std::int64_t> strides;
};

// A contraction, its loops in the roles that they have in a kernel. Neighbours that all uses walk
// as one loop are one. A tile is `rows` by vectors along `along`; its sums stay in registers.
struct VectorKernel {
  const problem::Statement* stated = nullptr;
  // Both operands, then each load or table among the values, then each store.
  std::vector<problem::StatedUse> uses;
  KernelLoop along;                 // vectors lie along it: strides 0 or 1, but of a packed operand
  KernelLoop rows;                  // the second loop of a tile; size 1: there is none
  std::vector<KernelLoop> outer;    // the other parallel loops, the outermost first
  std::vector<KernelLoop> reduced;  // the outermost first; at least one
  // It reads a buffer that it also writes, so that no tile may be computed twice.
  bool in_place = false;
  // Operand whose elements lie apart along `along`, which all rows share: a workgroup copies what
  // its tile needs to the stack, so that it lies side by side.
  std::optional<std::size_t> packed;

  // The number of the use of a value (a load or table) or of a store.
  std::size_t load(std::size_t value) const;
  std::size_t store(std::size_t number) const {
    return uses.size() - stated->stores.size() + number;
  }
  std::int64_t outer_steps() const;
  std::int64_t reduced_steps() const;
  // Whether a use is read as vectors, not as one element for all lanes.
  bool is_vector(std::size_t use) const { return along.strides[use] != 0; }
};

// Returns the kernel of a statement, which must outlive it; an input error says why there is none.
Result<VectorKernel> vector_kernel(const problem::Statement& stated);

}  // namespace hone::iree
