// The rules of hone's own GEMM space, one function each. Hard: the kernel refuses the
// configuration, or it is a duplicate. Soft: guesses about speed. "Seen" are figures of Triton 3.6
// and 3.9.
#pragma once

#include <optional>

#include "provider/triton/gemm_device.h"
#include "space/space.h"

namespace hone::triton {

// Tensor descriptors take rows of whole 16 bytes (CUDA driver API, cuTensorMapEncodeTiled).
inline constexpr std::int64_t kDescriptorBytes = 16;

struct GemmKnobs {
  space::Expression structure, block_m, block_n, block_k, group_m, split_k, per_unit, split_store,
      more_n, swap;
  space::Expression warps, stages, waves, nonkdim;
  space::Expression precision = kIeee;  // of products of f32 that are not rounded to tf32
};

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
