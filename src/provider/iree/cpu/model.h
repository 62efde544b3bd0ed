// Analytic model of a contraction's time on a CPU: a prior for the order in which configurations
// are tried. It has to rank them, not to be exact. Its unit is cycles of one core, which works
// through a register tile of sums at a time, along a block of k:
// - multiply-adds at two a cycle, or at the pace of their latency if sums are few; loads of the
//   register tile's row and broadcasts of its column; sums that do not fit in registers go to
//   memory and back in every step (docs/spaces.md, "Measured");
// - cache traffic: the lane operand's block is read again for every row of register tiles, from the
//   nearest cache that keeps it, and the other operand's strip for every register tile of a row.
//   Rows that are a power of two apart share few sets of a cache, so it keeps fewer of them;
// - pages: rows further apart than a page that the first-level TLB cannot hold;
// - sums of a block of k go to memory and come back in the next.
// The thread with the most workgroups ends last. Remainders under masks, and lane vectors that are
// no power of two, cost the measured factors of docs/spaces.md.
#pragma once

#include <functional>
#include <vector>

#include "problem/operation.h"
#include "problem/target.h"
#include "provider/iree/cpu/loops.h"
#include "space/space.h"

namespace hone::iree {

// Tiles of each loop of the contraction, in iterations. workgroup: of a workgroup (1 for loops of
// k). block: of the block that one pass over the innermost loops covers. inner: of the register
// tile, or unrolled.
struct CpuTiles {
  std::vector<double> workgroup, block, inner;
  bool peel = false;
};

// The estimated costs of one workgroup, unless a field says otherwise.
struct CpuEstimate {
  double sums = 0;          // vectors that accumulate
  double loads = 0;         // of vectors and broadcasts, in one step of k
  double step_cycles = 0;   // of one step of k over one register tile
  double steps = 0;         // of all register tiles
  double l2_bytes = 0;      // from the second-level cache to the first
  double l3_bytes = 0;      // from beyond the second-level cache
  double page_cycles = 0;   // waiting for addresses
  double block_cycles = 0;  // sums to memory and back, loops' beginnings
  double workgroups = 0;
  double rounds = 0;  // workgroups of the busiest thread
  double cycles = 0;  // of the launch
};

CpuEstimate estimate(const ContractionLoops& loops, const problem::Operation& operation,
                     const problem::CpuTarget& target, const CpuTiles& tiles);

// estimate().cycles of the configurations of `space`, which has the knobs of
// llvm_cpu_contraction_space; empty where the operation is no contraction or a knob is missing. The
// function holds copies of what it needs, and several threads may call it.
std::function<double(const space::Configuration&)> llvm_cpu_prior(
    const problem::Operation& operation, const problem::CpuTarget& target,
    const space::Space& space);

}  // namespace hone::iree
