#include "provider/triton/tune_gemm_space.h"

namespace hone::triton {
namespace {

using space::Expression;
using space::Value;

struct Knobs {
  Expression block_m, block_n, block_k, split_k, warps, group_m, stages;
};

Knobs add_knobs(space::SpaceBuilder& builder, const std::vector<Value>& blocks,
                const std::vector<Value>& groups) {
  return {builder.knob("BLOCK_M", "rows of a tile", blocks),
          builder.knob("BLOCK_N", "columns of a tile", blocks),
          builder.knob("BLOCK_K", "depth of a step", blocks),
          builder.knob("SPLIT_K", "programs that share one tile's depth",
                       {1, 2, 4, 5, 6, 8, 10, 12, 16, 18, 24}),
          builder.knob("num_warps", "wavefronts of a program", {1, 2, 4, 8}),
          builder.knob("GROUP_M", "rows of tiles that are walked together", groups),
          builder.knob("num_stages", "stages of the pipeline", {2})};
}

// Adds the rules that both versions share.
void add_common_rules(space::SpaceBuilder& builder, const Gemm& gemm, const Knobs& knobs) {
  const bool needs_split = (gemm.m < 64 || gemm.n < 64) && gemm.k > 1024;
  builder.prefer("split_k",
                 "splitting pays for thin and deep problems only (M or N < 64, K > 1024)",
                 needs_split || knobs.split_k == 1);
  builder.prefer("group_m",
                 "a group of tiles is no taller than the matrix (GROUP_M * BLOCK_M = {})",
                 knobs.group_m * knobs.block_m <= gemm.m || knobs.group_m == 1,
                 {knobs.group_m * knobs.block_m});
  if (gemm.batch != 1)
    builder.require("batch", "the split-K kernels are not for a batch", knobs.split_k == 1);
}

// Rows and columns of the largest instruction that the problem fills.
Value mfma_of(const Gemm& gemm) {
  return gemm.m < 32 || gemm.n < 32 ? 16 : 32;
}

void add_small_rules(space::SpaceBuilder& builder, const Gemm& gemm, const Knobs& knobs,
                     const Expression& edge) {
  builder.require("small_m", "a matrix with no more rows than one instruction takes tiles of one",
                  edge < gemm.m || knobs.block_m == edge);
  builder.require("small_n",
                  "a matrix with no more columns than one instruction takes tiles of one",
                  edge < gemm.n || knobs.block_n == edge);
}

void add_large_rules(space::SpaceBuilder& builder, const Gemm& gemm, const Knobs& knobs) {
  if (gemm.m < 2048 || gemm.n < 2048) return;
  builder.prefer("large_tiles", "large problems want blocks of at least 64",
                 knobs.block_m >= 64 && knobs.block_n >= 64 && knobs.block_k >= 64);
  builder.prefer("large_warps", "large problems want at least four wavefronts", knobs.warps >= 4);
  builder.prefer(
      "large_whole_tiles", "large problems want whole tiles",
      euclidean_mod(gemm.m, knobs.block_m) == 0 && euclidean_mod(gemm.n, knobs.block_n) == 0);
}

}  // namespace

space::SpaceBuilder tune_gemm_space_builder(const Gemm& gemm, const TuneGemmLimits& limits) {
  space::SpaceBuilder builder;
  const Knobs knobs = add_knobs(builder, {16, 32, 64, 128, 256}, {1, 2, 4, 8, 16, 32});
  const auto& [block_m, block_n, block_k, split_k, warps, group_m, stages] = knobs;
  builder.knob("waves_per_eu", "wavefronts per SIMD asked for; 0: the compiler chooses", {0});
  const Expression nonkdim =
      builder.knob("matrix_instr_nonkdim", "rows and columns of the MFMA instruction", {16, 32});
  builder.knob("kpack", "MFMA depths loaded at once", {1, 2});

  builder.require("mfma", "the instruction is no larger than the matrix ({} rows)",
                  nonkdim <= mfma_of(gemm), {nonkdim});
  builder.require("tile_fills_instruction", "a tile holds whole instructions",
                  block_m * block_n >= 64 && block_m >= nonkdim && block_n >= nonkdim);
  add_small_rules(builder, gemm, knobs, nonkdim);
  builder.prefer("waste_m", "a tile of more than twice the rows is half wasted",
                 block_m <= 2 * gemm.m || block_m == 16);
  builder.prefer("waste_n", "a tile of more than twice the columns is half wasted",
                 block_n <= 2 * gemm.n || block_n == 16);
  add_common_rules(builder, gemm, knobs);
  builder.require("split_k_divides", "SPLIT_K * BLOCK_K = {} divides K",
                  split_k == 1 || euclidean_mod(gemm.k, split_k * block_k) == 0,
                  {split_k * block_k});
  const Expression lds_a = block_m * block_k * problem::byte_size(gemm.a);
  const Expression lds_b = block_n * block_k * problem::byte_size(gemm.b);
  const Expression lds = ite(stages <= 1, max(lds_a, lds_b), (lds_a + lds_b) * (stages - 1));
  builder.require("lds", "the tiles of A and B take {} bytes of LDS; a workgroup has {}",
                  lds <= limits.lds_bytes, {lds, limits.lds_bytes});
  add_large_rules(builder, gemm, knobs);
  return builder;
}

Result<space::Space> tune_gemm_space(const Gemm& gemm, const TuneGemmLimits& limits) {
  return tune_gemm_space_builder(gemm, limits).build();
}

Result<space::Space> tune_gemm_v2_space(const Gemm& gemm) {
  space::SpaceBuilder builder;
  const Knobs knobs = add_knobs(builder, {16, 32, 64, 128}, {1, 4, 8, 16, 32});
  const Value mfma = mfma_of(gemm);
  builder.knob("waves_per_eu", "wavefronts per SIMD asked for; 0: the compiler chooses", {0});
  builder.knob("matrix_instr_nonkdim", "rows and columns of the MFMA instruction", {mfma});
  builder.knob("kpack", "MFMA depths loaded at once", {1});

  builder.require("tile_fills_instruction", "a block is no smaller than the instruction, {} rows",
                  knobs.block_m >= mfma && knobs.block_n >= mfma, {mfma});
  add_small_rules(builder, gemm, knobs, mfma);
  add_common_rules(builder, gemm, knobs);
  builder.require("split_k_divides", "SPLIT_K * BLOCK_K = {} divides K, with a SPLIT_K of 1 too",
                  euclidean_mod(gemm.k, knobs.split_k * knobs.block_k) == 0,
                  {knobs.split_k * knobs.block_k});
  builder.require("deep_blocks",
                  "a BLOCK_K of 128 beside a BLOCK_M or BLOCK_N of 128 takes too much LDS",
                  knobs.block_k != 128 || (knobs.block_m != 128 && knobs.block_n != 128));
  return builder.build();
}

}  // namespace hone::triton
