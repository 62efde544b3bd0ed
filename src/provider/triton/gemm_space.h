// hone's own space of a GEMM: which kernel, and its knobs (python/structures.py reads them).
//
// STRUCTURE            0 blocked, 1 split-K by atomics, 2 split-K in two passes, 3 stream-K; with
//                      tensor descriptors: 4 persistent, 5 tiles or split-K, 6 stream-K, 7 wide
//                      tiles, 8 warp-specialised
// BLOCK_M, _N, _K      a tile of C, and the depth of one step
// GROUP_M              rows of tiles that are walked together
// SPLIT_K              parts of k (structures 1, 2 and 5)
// PER_UNIT             programs of a multiprocessor (structures 3, 4 and 6)
// SPLIT_STORE          write C in 1, 2 or 4 pieces: 0, 1, 2 (structures 4, 7 and 8)
// MORE_N               columns of a tile beyond BLOCK_N (structures 7 and 8)
// SWAP                 compute C^T = B^T A^T: BLOCK_M goes along C's columns (structures 4, 5, 8)
// num_warps, num_stages, and on AMD waves_per_eu, matrix_instr_nonkdim, kpack
//
// A knob that a structure does not read has one value there, and NVIDIA's spaces have none of AMD's
// knobs, so that no kernel is listed twice. Sizes need not divide: the kernels have tails. No
// GROUP_M or SPLIT_K is a multiple of 16: they are arguments, and such a one would be compiled for
// on its own.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "provider/triton/gemm.h"
#include "provider/triton/gemm_device.h"
#include "space/space.h"

namespace hone::triton {

// Values of STRUCTURE.
inline constexpr space::Value kBlocked = 0;
inline constexpr space::Value kSplitKAtomic = 1;
inline constexpr space::Value kSplitKTwoPasses = 2;
inline constexpr space::Value kStreamK = 3;
inline constexpr space::Value kPersistent = 4;
inline constexpr space::Value kTilesTma = 5;
inline constexpr space::Value kStreamKTma = 6;
inline constexpr space::Value kWideTma = 7;
inline constexpr space::Value kWarpSpecialised = 8;

// Structure of a kernel that states none: blocked, or split-K if SPLIT_K is above 1. Split-K is
// atomic if C has the type of the sums, else in two passes.
inline space::Value plain_structure(const Gemm& gemm, space::Value split_k) {
  if (split_k <= 1) return kBlocked;
  return gemm.c == accumulator(gemm) ? kSplitKAtomic : kSplitKTwoPasses;
}

// The space of a GEMM. Errors: those of check(gemm, device) and of SpaceBuilder::build.
Result<space::Space> gemm_space(const Gemm& gemm, const GemmDevice& device);
space::SpaceBuilder gemm_space_builder(const Gemm& gemm, const GemmDevice& device);

// Knobs by name that the compile worker gets for a configuration of any of the provider's spaces. A
// configuration of a space without STRUCTURE (tune_gemm's) gets plain_structure().
std::map<std::string, std::int64_t> worker_knobs(const Gemm& gemm, const space::Space& space,
                                                 const space::Configuration& configuration);

// The rules of hone's own GEMM space, one function each. Hard: the kernel refuses the
// configuration, or it is a duplicate. Soft: guesses about speed. "Seen" are figures of Triton 3.6
// and 3.9.

// Tensor descriptors take rows of whole 16 bytes (CUDA driver API, cuTensorMapEncodeTiled).
inline constexpr std::int64_t kDescriptorBytes = 16;

struct GemmKnobs {
  space::Expression structure, block_m, block_n, block_k, group_m, split_k, per_unit, split_store,
      more_n, swap;
  space::Expression warps, stages, waves, nonkdim;
  space::Expression precision = kIeee;  // of products of f32 that are not rounded to tf32
};

// Knobs of AMD's backend: adds them and returns waves_per_eu and matrix_instr_nonkdim. `bytes`: of
// an operand's element. Constants 0 without a knob on NVIDIA GPUs.
std::pair<space::Expression, space::Expression> amd_knobs(space::SpaceBuilder& builder,
                                                          const GemmDevice& device,
                                                          std::int64_t bytes);

// Problem, device and knobs that the rules refer to.
struct GemmRules {
  const Gemm& gemm;
  const GemmDevice& device;
  const GemmKnobs& knobs;
  // Number of tiles along the columns of a transposed product (SWAP), if they are not consecutive,
  // as with boxes of pixels. Such a product has to be transposed, so the rule swap_thin is skipped.
  std::optional<space::Expression> tiles_of_swapped = {};

  bool may_take_apart() const;    // products of f32 in parts are a choice
  bool thin() const;              // too few rows or columns for the largest matrix instructions
  bool fits_descriptors() const;  // the device has them, and rows are whole 16 bytes
  space::Expression descriptors() const;  // the structure uses them
  space::Expression streams() const;      // the structure is one of stream-K
  space::Expression warpgroups()
      const;                       // the tile and the warps are those that their instructions take
  space::Expression rows() const;  // of what is computed: C, or C^T with SWAP
  space::Expression columns() const;
  space::Expression width() const;  // of a tile
  space::Expression tiles_m() const;
  space::Expression tiles_n() const;
  space::Expression tiles() const;
  space::Expression steps() const;         // along k, of a whole tile
  space::Expression accumulators() const;  // registers of a thread
  // Lower bound on the kernel's shared memory, in bytes: the buffers of the pipeline, and with
  // descriptors that of a piece of C. The compiled kernel's own figure is checked once it is known.
  space::Expression shared_bytes() const;

  void add_hard(space::SpaceBuilder& builder) const;
  void add_soft(space::SpaceBuilder& builder) const;

  // Hard rules that kernels for a program's dispatches share: no configuration is listed twice, and
  // a tile's buffers fit.
  void same_again(space::SpaceBuilder& builder) const;
  void memory(space::SpaceBuilder& builder) const;

 private:
  void structures(space::SpaceBuilder& builder) const;
  void unread_knobs(space::SpaceBuilder& builder) const;

  void registers(space::SpaceBuilder& builder) const;
  void instructions(space::SpaceBuilder& builder) const;
  void tile_sizes(space::SpaceBuilder& builder) const;
  void pipeline(space::SpaceBuilder& builder) const;
  void split(space::SpaceBuilder& builder) const;
  void structure(space::SpaceBuilder& builder) const;
};

// Largest shared memory, in bytes, that one more pipeline stage takes: a step's tiles.
space::Expression step_bytes(const Gemm& gemm, const GemmKnobs& knobs);

}  // namespace hone::triton
