#include "provider/triton/attention_space.h"

#include <bit>

#include "provider/triton/gemm_device.h"

namespace hone::triton {
namespace {

using space::Expression;
using space::SpaceBuilder;

struct AttentionKnobs {
  Expression block_m, block_n, split_k, precision, warps, stages;
};

struct AttentionRules {
  const AttentionShape& shape;
  const GemmDevice& device;
  const AttentionKnobs& knobs;
  std::int64_t depth = padded_head(shape.depth), width = padded_head(shape.width);

  Expression steps() const { return euclidean_div(shape.keys, knobs.block_n); }  // whole ones

  // Whether products are on matrix units: those of f32 in parts only.
  Expression on_matrix_units() const {
    return shape.element_bytes == 2 ? Expression(true) : knobs.precision != kIeee;
  }

  // Hopper's instructions of a warpgroup, which read keys and values from shared memory.
  Expression warpgroups() const {
    return device.capability() == 90
               ? on_matrix_units() && knobs.block_m >= 64 && euclidean_mod(knobs.warps, 4) == 0
               : Expression(false);
  }

  // Seen: the queries; and buffers for keys and values, one less than stages where the instruction
  // reads registers, for what the last step loads lies there. Without a pipeline keys and values
  // take turns. The compiled kernel's own figure, which may be larger, is checked when it is known.
  Expression shared_bytes() const {
    const Expression keys = knobs.block_n * (depth * shape.element_bytes);
    const Expression values = knobs.block_n * (width * shape.element_bytes);
    const Expression buffers = knobs.stages - ite(warpgroups(), 0, 1);
    return knobs.block_m * (depth * shape.element_bytes) +
           ite(knobs.stages == 1 || steps() <= 1, max(keys, values), (keys + values) * buffers);
  }

  Expression registers() const {
    return euclidean_div(knobs.block_m * (knobs.block_n + width), knobs.warps * device.warp);
  }

  // Multiply-adds of a thread for a step.
  Expression multiply_adds() const {
    return euclidean_div(knobs.block_m * knobs.block_n * (depth + width),
                         knobs.warps * device.warp);
  }

  Expression programs() const {
    return euclidean_div(shape.queries + knobs.block_m - 1, knobs.block_m) * shape.batch;
  }

  void split(SpaceBuilder& builder) const {
    const Expression splits = knobs.split_k > 1;
    const Expression scratch = programs() * knobs.split_k * knobs.block_m * (width + 2) * 4;
    builder.require("split_k_parts", "a part of the keys is at least one step; there are {}",
                    !splits || knobs.split_k <= steps(), {steps()});
    builder.require("scratch", "what all parts found takes {} bytes; there may be {}",
                    !splits || scratch <= kMostScratchBytes, {scratch, kMostScratchBytes});
    builder.prefer("split_k_deep", "a part of the keys has at least two steps",
                   !splits || 2 * knobs.split_k <= steps());
    builder.prefer(
        "split_k_fills", "with {} programs there is no need to split: that is two for each unit",
        !splits || programs() * knobs.split_k <= 2 * device.units, {programs() * knobs.split_k});
  }

  void add(SpaceBuilder& builder) const {
    split(builder);
    builder.require("shared_memory",
                    "queries and the pipeline's buffers take at least {} bytes of shared memory; "
                    "there are {}",
                    shared_bytes() <= device.shared_bytes, {shared_bytes(), device.shared_bytes});
    // Seen: up to 160 of a thread's 255 nothing spills, at 192 at most a few, at 256 all. Where
    // numbers are taken in parts, which are in registers too, a few do at 96 and all at 128.
    const int share = shape.element_bytes == 2 ? 6 : 3;
    builder.prefer("accumulators",
                   "sums and scores take {} registers of a thread; beyond " +
                       std::string(share == 6 ? "three quarters" : "three eighths") +
                       " of its {} they spill",
                   registers() <= (device.thread_registers + 1) * share / 8,
                   {registers(), device.thread_registers});
    // The same rule as for products (gemm_space.cc).
    if (shape.element_bytes == 4)
      builder.prefer("unrolled_code", "a step is unrolled to {} multiply-adds of a thread",
                     on_matrix_units() || multiply_adds() <= 4096, {multiply_adds()});
    // Triton gives each warp rows of its own in two chained products. Sums of a large head need the
    // registers of more warps. With few queries, more warps read more at a time, and their
    // duplicate work costs nothing.
    if (shape.queries > 16)
      builder.prefer("warps_fed", "a matrix instruction of a warp has 16 rows",
                     knobs.block_m * (width > 256 ? 4 : 1) >= knobs.warps * 16);
    if (device.capability() == 90 && shape.queries >= 64)
      builder.prefer("warpgroups", "the fast instructions of Hopper take 64 rows and four warps",
                     warpgroups() || !on_matrix_units());
    builder.prefer("waste_m", "half of the queries of a block, or more, lie outside",
                   knobs.block_m < 2 * shape.queries || knobs.block_m == 16);
    builder.prefer("waste_n", "half of the keys of a step, or more, lie outside",
                   knobs.block_n < 2 * shape.keys || knobs.block_n == 16);
    builder.prefer("stages", "a pipeline is no longer than the {} whole steps it has",
                   knobs.stages <= max(steps(), 1), {steps()});
  }
};

}  // namespace

std::int64_t padded_head(std::int64_t size) {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(size)));
}

Result<AttentionShape> attention_of(const problem::Statement& stated) {
  using problem::LoopRole;
  AttentionShape shape;
  shape.batch = stated.steps(LoopRole::kBatch);
  shape.queries = stated.steps(LoopRole::kM);
  shape.width = stated.steps(LoopRole::kN);
  shape.depth = stated.steps(LoopRole::kK1);
  shape.keys = stated.steps(LoopRole::kK2);
  const problem::ElementType type = stated.operands[0].type;
  for (const problem::StatedUse& operand : {stated.operands[1], stated.operands[2]})
    if (operand.type != type) return input_error("its operands differ in type");
  if (type != problem::ElementType::kF16 && type != problem::ElementType::kBF16 &&
      type != problem::ElementType::kF32)
    return input_error("Triton's attention is for f16, bf16 and f32, not {}",
                       problem::name_of(type));
  shape.element_bytes = static_cast<int>(problem::byte_size(type));
  // Queries may be fewer: a step of decoding has one, and waits for keys and values to be read.
  for (const std::int64_t size : {shape.keys, shape.depth, shape.width})
    if (size < kLeastSize)
      return input_error(
          "attention of {} keys with heads of {} and {} is too small for matrix instructions",
          shape.keys, shape.depth, shape.width);
  return shape;
}

SpaceBuilder attention_space_builder(const AttentionShape& shape, const GemmDevice& device) {
  SpaceBuilder builder;
  const AttentionKnobs knobs{
      .block_m = builder.knob("BLOCK_M", "queries of a program", {16, 32, 64, 128, 256}),
      .block_n = builder.knob("BLOCK_N", "keys of a step", {16, 32, 64, 128}),
      .split_k = builder.knob("SPLIT_K", "parts of the keys", {1, 2, 3, 4, 6, 8, 12, 16, 24, 32}),
      .precision = shape.element_bytes == 4 && device.capability() >= 80
                       ? builder.knob("PRECISION", kPrecisions, {kIeee, kBf16x6, kTf32x3})
                       : Expression(kIeee),
      .warps = builder.knob("num_warps", "warps of a program", {1, 2, 4, 8}),
      .stages = builder.knob("num_stages", "stages of the pipeline along the keys", {1, 2, 3, 4})};
  AttentionRules{shape, device, knobs}.add(builder);
  return builder;
}

}  // namespace hone::triton
