#include <algorithm>

#include "provider/triton/gemm_rules.h"
#include "provider/triton/gemm_space.h"

namespace hone::triton {
namespace {

using space::Expression;
using space::SpaceBuilder;

constexpr std::int64_t kMostSumBytes = std::int64_t{256} << 20;

}  // namespace

void GemmRules::add_soft(SpaceBuilder& builder) const {
  registers(builder);
  instructions(builder);
  tile_sizes(builder);
  pipeline(builder);
  split(builder);
  structure(builder);
}

void GemmRules::structure(SpaceBuilder& builder) const {
  builder.prefer("pieces", "a piece of C that is written at once has 64 columns or more",
                 knobs.split_store == 0 ||
                     knobs.block_n >= lookup(knobs.split_store, {0, 1, 2}, {16, 128, 256}));
  constexpr std::int64_t kThinSide = 256;
  if (gemm.m <= kThinSide || gemm.n <= kThinSide) return;
  // On an H200 the others reached 0.38 to 0.74 of cuBLASLt on large problems, these 0.94 to 1.02
  // (docs/studies/gemm-structures.md); on thin ones they are near each other.
  if (fits_descriptors() && gemm.batch == 1)
    builder.prefer(
        "descriptors_first",
        "where tensor descriptors can be had, of the kernels without only the blocked one",
        knobs.structure == kBlocked || descriptors());
  if (!tiles_of_swapped)
    builder.prefer("swap_thin", "SWAP gains where C has few rows or columns", knobs.swap == 0);
}

void GemmRules::registers(SpaceBuilder& builder) const {
  // Blocks are powers of two: the next above half of the registers is all of them, and it spills.
  // Wide tiles are in between.
  const int half = (device.thread_registers + 1) / 2;
  Expression most = ite(knobs.more_n > 0, half * 5 / 4, half);
  // Products in parts are added up apart from the sums, and the first operand's parts lie in
  // registers: seen, 64 sums leave nothing to spare.
  if (may_take_apart()) most = ite(knobs.precision != kIeee, half / 2, most);
  builder.prefer(
      "accumulators",
      "sums take {} registers of a thread; more than half of its {} leave too few for operands",
      accumulators() <= most, {accumulators(), device.thread_registers});
  if (device.is_cdna())
    builder.prefer(
        "waves_registers",
        "with {} wavefronts on a SIMD sums take no more than half of each one's registers",
        knobs.waves * accumulators() * 2 <= device.thread_registers, {knobs.waves});
  builder.prefer(
      "per_unit_registers", "the sums of all programs of a unit fit in half of its registers",
      knobs.per_unit == 1 || knobs.per_unit * knobs.block_m * width() * 2 <= device.unit_registers);
  builder.prefer(
      "per_unit_memory", "the buffers of all programs of a unit fit in its shared memory",
      knobs.per_unit == 1 || knobs.per_unit * shared_bytes() <= device.unit_shared_bytes);
  // Without a matrix instruction the products of a step are unrolled: code of 64 KiB and more does
  // not fit in an instruction cache, and takes minutes to compile.
  if (!on_matrix_units(gemm, device))
    builder.prefer("unrolled_code", "a step is unrolled to {} multiply-adds of a thread",
                   knobs.precision != kIeee || accumulators() * knobs.block_k <= 4096,
                   {accumulators() * knobs.block_k});
}

void GemmRules::instructions(SpaceBuilder& builder) const {
  if (!thin() &&
      (has_warpgroup_instructions(gemm, device) || (may_take_apart() && device.capability() >= 90)))
    builder.prefer("warpgroups",
                   "the fast instructions of Hopper and Blackwell take 64 rows and four warps",
                   may_take_apart() ? warpgroups() || knobs.precision == kIeee : warpgroups());
  if (!device.is_cuda())
    builder.prefer("tile_fills_instruction", "a tile holds whole matrix instructions",
                   knobs.block_m >= knobs.nonkdim && knobs.block_n >= knobs.nonkdim);
  if (device.is_cdna() && !thin())
    builder.prefer("simds", "a compute unit has four SIMDs, and a wavefront runs on one",
                   knobs.warps >= 4);
  builder.prefer("warps_fed", "a warp has {} sums; with few of them its loads are all it does",
                 knobs.block_m * knobs.block_n >= knobs.warps * (thin() ? 256 : 1024),
                 {euclidean_div(knobs.block_m * knobs.block_n, knobs.warps)});
}

void GemmRules::tile_sizes(SpaceBuilder& builder) const {
  builder.prefer("waste_m", "half of the rows of a tile, or more, lie outside",
                 knobs.block_m < 2 * rows() || knobs.block_m == 16);
  builder.prefer("waste_n", "half of the columns of a tile, or more, lie outside",
                 knobs.block_n < 2 * columns() || knobs.block_n == 16);
  builder.prefer("waste_k", "half of the depth of a step, or more, lies outside",
                 knobs.block_k < 2 * gemm.k || knobs.block_k <= 32);
  // 64 bytes are two sectors of a cache line, 128 a line and the widest swizzle of shared memory.
  // Few rows or columns are a matter of memory alone: long steps keep more of it in flight.
  const Expression bytes = knobs.block_k * problem::byte_size(gemm.a);
  const int deepest = thin() ? 512 : 256;
  builder.prefer("step_bytes", "a step is 64 to 256 bytes deep (512 of thin products), not {}",
                 bytes >= 64 && bytes <= deepest, {bytes});
  // Tiles of 64 x 64 do 32 products for each element they load; where there are enough of them for
  // every unit, smaller ones only read more.
  const std::int64_t tiles = ((gemm.m + 63) / 64) * ((gemm.n + 63) / 64) * gemm.batch;
  if (tiles >= device.units && gemm.m >= 64 && gemm.n >= 64)
    builder.prefer("reuse", "a tile does at least 32 products for each element it loads",
                   knobs.block_m * knobs.block_n >= 32 * (knobs.block_m + knobs.block_n));
}

void GemmRules::pipeline(SpaceBuilder& builder) const {
  const Expression of_part = euclidean_div(steps(), knobs.split_k);
  const std::int64_t least = device.is_cuda() ? 2 : 1;
  builder.prefer("stages", "a pipeline is no longer than the {} steps it has",
                 knobs.stages <= max(of_part, least), {of_part});
}

void GemmRules::split(SpaceBuilder& builder) const {
  const Expression splits = knobs.split_k > 1;
  builder.prefer("split_k_fills",
                 "with {} programs there is no need to split: that is four for each unit",
                 !splits || tiles() * gemm.batch * knobs.split_k <= 4 * device.units,
                 {tiles() * gemm.batch * knobs.split_k});
  builder.prefer("split_k_deep", "a part has at least four steps",
                 !splits || 4 * knobs.split_k <= steps());
  builder.prefer("stream_k_waves", "with {} tiles, more than eight for each unit, little is uneven",
                 !streams() || tiles() <= 8 * device.units, {tiles()});
  const Expression sums = tiles() * knobs.block_m * knobs.block_n * 4 * knobs.split_k;
  builder.prefer("workspace", "the parts' sums take no more than 256 MiB",
                 knobs.structure != kSplitKTwoPasses || sums <= kMostSumBytes);
}

}  // namespace hone::triton
