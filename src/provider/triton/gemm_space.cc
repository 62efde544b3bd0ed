#include "provider/triton/gemm_space.h"

#include <tuple>

#include "space/configuration.h"

namespace hone::triton {
namespace {

using space::Expression;
using space::SpaceBuilder;
using space::Value;

GemmKnobs add_knobs(SpaceBuilder& builder, const Gemm& gemm, const GemmDevice& device) {
  const auto on_cuda = [&](std::vector<Value> values) {
    return device.is_cuda() ? std::move(values) : std::vector<Value>{0};
  };
  GemmKnobs knobs{
      builder.knob("STRUCTURE",
                   "kernel: 0 blocked, 1 split-K by atomics, 2 split-K in two passes, 3 stream-K; "
                   "with tensor descriptors 4 persistent, 5 tiles or split-K, 6 stream-K, 7 wide "
                   "tiles, 8 warp-specialised",
                   {kBlocked, kSplitKAtomic, kSplitKTwoPasses, kStreamK, kPersistent, kTilesTma,
                    kStreamKTma, kWideTma, kWarpSpecialised}),
      builder.knob("BLOCK_M", "rows of a tile", {16, 32, 64, 128, 256}),
      builder.knob("BLOCK_N", "columns of a tile", {16, 32, 64, 128, 256}),
      builder.knob("BLOCK_K", "depth of a step", {16, 32, 64, 128, 256}),
      builder.knob("GROUP_M", "rows of tiles that are walked together", {1, 4, 8}),
      builder.knob("SPLIT_K", "parts of k", {1, 2, 3, 4, 5, 6, 8, 10, 12, 20, 24}),
      builder.knob("PER_UNIT", "programs of a multiprocessor", {1, 2}),
      builder.knob("SPLIT_STORE", "C is written in one piece, two or four: 0, 1 or 2",
                   on_cuda({0, 1, 2})),
      builder.knob("MORE_N", "columns of a tile beyond BLOCK_N", on_cuda({0, 32, 64})),
      builder.knob("SWAP", "whether C^T = B^T A^T is computed", on_cuda({0, 1})),
      builder.knob("num_warps", "warps of a program", {1, 2, 4, 8}),
      builder.knob(
          "num_stages", "stages of the pipeline along k",
          device.is_cuda() ? std::vector<Value>{2, 3, 4, 5, 6, 8} : std::vector<Value>{1, 2, 3}),
      0,
      0};
  std::tie(knobs.waves, knobs.nonkdim) = amd_knobs(builder, device, problem::byte_size(gemm.a));
  return knobs;
}

}  // namespace

std::pair<Expression, Expression> amd_knobs(SpaceBuilder& builder, const GemmDevice& device,
                                            std::int64_t bytes) {
  if (device.is_cuda()) return {0, 0};
  const Expression waves = builder.knob(
      "waves_per_eu", "wavefronts per SIMD asked for; 0: the compiler chooses", {0, 2});
  // RDNA's only matrix instruction is 16 x 16 x 16.
  const Expression nonkdim =
      builder.knob("matrix_instr_nonkdim", "rows and columns of the MFMA instruction",
                   device.is_cdna() ? std::vector<Value>{16, 32} : std::vector<Value>{16});
  // gfx950's instructions are twice as deep: Triton ignores kpack there. For operands of 32 bits it
  // changes nothing.
  const bool packs = device.arch == "gfx942" && bytes < 4;
  builder.knob("kpack", "MFMA depths loaded at once",
               packs ? std::vector<Value>{1, 2} : std::vector<Value>{1});
  return {waves, nonkdim};
}

SpaceBuilder gemm_space_builder(const Gemm& gemm, const GemmDevice& device) {
  SpaceBuilder builder;
  const GemmKnobs knobs = add_knobs(builder, gemm, device);
  const GemmRules rules{gemm, device, knobs};
  rules.add_hard(builder);
  rules.add_soft(builder);
  return builder;
}

Result<space::Space> gemm_space(const Gemm& gemm, const GemmDevice& device) {
  HONE_TRY(check(gemm, device));
  return gemm_space_builder(gemm, device).build();
}

std::map<std::string, std::int64_t> worker_knobs(const Gemm& gemm, const space::Space& space,
                                                 const space::Configuration& configuration) {
  std::map<std::string, std::int64_t> knobs = space::values_by_name(space, configuration);
  if (!knobs.contains("STRUCTURE")) {
    const auto split_k = knobs.find("SPLIT_K");
    knobs["STRUCTURE"] = plain_structure(gemm, split_k == knobs.end() ? 1 : split_k->second);
  }
  return knobs;
}

namespace {

using problem::byte_size;
using space::Expression;
using space::SpaceBuilder;

Expression ceil_div(const Expression& a, const Expression& b) {
  return euclidean_div(a + b - 1, b);
}

std::int64_t row_bytes(std::int64_t rows, std::int64_t columns, bool by_rows,
                       problem::ElementType type) {
  return (by_rows ? columns : rows) * byte_size(type);
}

}  // namespace

bool GemmRules::may_take_apart() const {
  return knobs.precision.operation() != space::Operator::kConstant;
}

bool GemmRules::thin() const {
  return gemm.m <= 32 || gemm.n <= 32;
}

bool GemmRules::fits_descriptors() const {
  return device.capability() >= 90 &&
         row_bytes(gemm.m, gemm.k, gemm.a_rows, gemm.a) % kDescriptorBytes == 0 &&
         row_bytes(gemm.k, gemm.n, gemm.b_rows, gemm.b) % kDescriptorBytes == 0 &&
         row_bytes(gemm.m, gemm.n, gemm.c_rows, gemm.c) % kDescriptorBytes == 0;
}

Expression GemmRules::descriptors() const {
  return knobs.structure >= kPersistent;
}
Expression GemmRules::streams() const {
  return knobs.structure == kStreamK || knobs.structure == kStreamKTma;
}
Expression GemmRules::warpgroups() const {
  return knobs.block_m >= 64 && euclidean_mod(knobs.warps, 4) == 0;
}
Expression GemmRules::rows() const {
  return ite(knobs.swap == 1, gemm.n, gemm.m);
}
Expression GemmRules::columns() const {
  return ite(knobs.swap == 1, gemm.m, gemm.n);
}
Expression GemmRules::width() const {
  return knobs.block_n + knobs.more_n;
}
Expression GemmRules::tiles_m() const {
  return ceil_div(rows(), knobs.block_m);
}
Expression GemmRules::tiles_n() const {
  const Expression in_order = ceil_div(columns(), width());
  return tiles_of_swapped ? ite(knobs.swap == 1, *tiles_of_swapped, in_order) : in_order;
}
Expression GemmRules::tiles() const {
  return tiles_m() * tiles_n();
}
Expression GemmRules::steps() const {
  return ceil_div(gemm.k, knobs.block_k);
}
Expression GemmRules::accumulators() const {
  return euclidean_div(knobs.block_m * width(), knobs.warps * device.warp);
}

Expression step_bytes(const Gemm& gemm, const GemmKnobs& knobs) {
  const Expression width = knobs.block_n + knobs.more_n;
  return (knobs.block_m * byte_size(gemm.a) + width * byte_size(gemm.b)) * knobs.block_k;
}

Expression GemmRules::shared_bytes() const {
  const Expression step = step_bytes(gemm, knobs);
  const Expression a = knobs.block_m * knobs.block_k * byte_size(gemm.a);
  const Expression b = knobs.block_n * knobs.block_k * byte_size(gemm.b);
  // Seen: one buffer less than stages, as the last step's lies in registers; one per stage where
  // the instruction itself reads shared memory; on AMD without a pipeline one buffer for both
  // tiles.
  if (!device.is_cuda()) {
    const Expression pipeline = ite(knobs.stages == 1, max(a, b), step * (knobs.stages - 1));
    if (!device.is_cdna()) return pipeline;
    // Seen on gfx942: before atomic additions the sums are exchanged through LDS, half of them at a
    // time where a wavefront has 32 rows and 256 columns of 16 x 16 instructions.
    const Expression halves =
        knobs.nonkdim == 16 && knobs.block_n == 256 && knobs.block_m >= 32 * knobs.warps;
    const Expression sums = euclidean_div(knobs.block_m * knobs.block_n * 4, ite(halves, 2, 1));
    return max(pipeline, ite(knobs.structure == kSplitKAtomic && knobs.warps >= 4, sums, 0));
  }
  const Expression from_memory =
      device.capability() == 90 && has_warpgroup_instructions(gemm, device) ? warpgroups()
                                                                            : Expression(false);
  const Expression pipeline = step * (knobs.stages - ite(from_memory, 0, 1));
  const Expression c = knobs.block_m * knobs.block_n * byte_size(gemm.c);
  const Expression piece = lookup(knobs.split_store, {0, 1, 2}, {4, 2, 1}) * euclidean_div(c, 4);
  // Seen: the warp-specialised kernel writes what MORE_N adds in one piece.
  const Expression more =
      ite(knobs.structure == kWarpSpecialised, knobs.block_m * knobs.more_n * byte_size(gemm.c), 0);
  const Expression all = pipeline + ite(descriptors(), piece, 0) + more;
  if (!may_take_apart() || device.capability() != 90) return all;
  // Seen: the second operand's parts lie beside it, three of two bytes for an element.
  return all +
         ite(knobs.precision == kBf16x6 && warpgroups(), knobs.block_n * knobs.block_k * 6, 0);
}

void GemmRules::add_hard(SpaceBuilder& builder) const {
  structures(builder);
  unread_knobs(builder);
  same_again(builder);
  memory(builder);
}

void GemmRules::structures(SpaceBuilder& builder) const {
  const Expression& structure = knobs.structure;
  if (gemm.batch != 1)
    builder.require("batch", "only the blocked kernel is for a batch", structure == kBlocked);
  if (gemm.c != accumulator(gemm))
    builder.require("atomic_type",
                    "atomic split-K adds to C, which would have to be of the type of the sums",
                    structure != kSplitKAtomic);
  if (device.capability() < 90)
    builder.require("descriptors", "tensor descriptors need NVIDIA's sm_90 or later",
                    !descriptors());
  const bool halves = byte_size(gemm.a) == 2 && byte_size(gemm.b) == 2 && problem::is_float(gemm.a);
  if (!halves)
    builder.require("warp_specialised_types",
                    "the warp-specialised kernel is for A and B of 16 bits",
                    structure != kWarpSpecialised);
  for (const auto& [bytes, name, what] :
       {std::tuple(row_bytes(gemm.m, gemm.k, gemm.a_rows, gemm.a), "descriptor_rows_a", "A"),
        std::tuple(row_bytes(gemm.k, gemm.n, gemm.b_rows, gemm.b), "descriptor_rows_b", "B"),
        std::tuple(row_bytes(gemm.m, gemm.n, gemm.c_rows, gemm.c), "descriptor_rows_c", "C")})
    if (bytes % kDescriptorBytes != 0)
      builder.require(name,
                      std::string("tensor descriptors take rows of whole 16 bytes; those of ") +
                          what + " have {}",
                      !descriptors(), {bytes});
  if (device.is_cuda() && byte_size(gemm.a) == 1)
    builder.require("dot_depth", "the matrix instructions of 8-bit operands are 32 deep",
                    knobs.block_k >= 32);
}

void GemmRules::unread_knobs(SpaceBuilder& builder) const {
  const Expression& structure = knobs.structure;
  const Expression splits = structure == kSplitKAtomic || structure == kSplitKTwoPasses;
  builder.require("split_k_structure", "SPLIT_K is above 1 in the split-K kernels and 1 in others",
                  splits == (knobs.split_k > 1) || (structure == kTilesTma && knobs.split_k > 1));
  builder.require("split_k_parts", "a part of k is at least one step; there are {}",
                  knobs.split_k <= steps(), {steps()});
  builder.require("per_unit_structure", "PER_UNIT is for stream-K and the persistent kernel",
                  knobs.per_unit == 1 || structure == kStreamK || structure == kPersistent ||
                      structure == kStreamKTma);
  const Expression wide = structure == kWideTma || structure == kWarpSpecialised;
  builder.require("split_store_structure",
                  "SPLIT_STORE is for the persistent kernel and those of wide tiles",
                  knobs.split_store == 0 || structure == kPersistent || wide);
  builder.require("more_n_structure",
                  "MORE_N is for the warp-specialised kernel and, above 0, that of wide tiles",
                  knobs.more_n == 0 || wide);
  builder.require("more_n_wide", "without MORE_N the kernel of wide tiles is structure 5",
                  structure != kWideTma || knobs.more_n > 0);
  builder.require("more_n_least", "MORE_N is less than BLOCK_N", knobs.more_n < knobs.block_n);
  builder.require("swap_structure", "SWAP is for structures 4, 5 and 8",
                  knobs.swap == 0 || structure == kPersistent || structure == kTilesTma ||
                      structure == kWarpSpecialised);
}

void GemmRules::same_again(SpaceBuilder& builder) const {
  builder.require("group_m", "a group of all {} rows of tiles is the same however large it is said",
                  knobs.group_m == 1 ||
                      (lookup(knobs.group_m, {1, 4, 8}, {0, 1, 4}) < tiles_m() && tiles_n() > 1),
                  {tiles_m()});
  const Expression work = ite(streams(), tiles() * steps(), tiles());
  builder.require(
      "per_unit_work", "there is work for more than one program of each of {} units: {}",
      knobs.per_unit == 1 || work > device.units * (knobs.per_unit - 1), {device.units, work});
  builder.require("stream_k_steps",
                  "stream-K divides the steps of a tile; one step is the blocked kernel's",
                  !streams() || steps() > 1);
}

void GemmRules::memory(SpaceBuilder& builder) const {
  builder.require("shared_memory",
                  "the pipeline's buffers take at least {} bytes of shared memory; there are {}",
                  shared_bytes() <= device.shared_bytes, {shared_bytes(), device.shared_bytes});
  if (device.capability() >= 90)
    builder.require("descriptor_block", "a row of a descriptor's block of C has at least 16 bytes",
                    knobs.split_store == 0 ||
                        knobs.block_n * byte_size(gemm.c) >=
                            lookup(knobs.split_store, {0, 1, 2}, {1, 2, 4}) * kDescriptorBytes);
}

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
