#include "provider/triton/stated_spaces.h"

#include <bit>
#include <tuple>

#include "provider/triton/gemm_model.h"
#include "provider/triton/gemm_space.h"

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
    const Expression queries = knobs.block_m * (depth * shape.element_bytes);
    const Expression pipeline =
        ite(knobs.stages == 1 || steps() <= 1, max(keys, values), (keys + values) * buffers);
    // On AMD queries pass through local memory before the pipeline begins.
    return device.is_cuda() ? queries + pipeline : max(queries, pipeline);
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

using space::Value;

constexpr std::int64_t kMostUnrolled = 4096;
const std::vector<Value> kBlocks{16, 32, 64, 128, 256};
const std::vector<Value> kMore{0, 32, 64};

// Number of tiles of an image that is loaded in boxes, by the pixels of a tile (BLOCK_N and
// MORE_N).
Expression tiles_of_pixels(const std::vector<std::int64_t>& image, const GemmKnobs& knobs) {
  Expression tiles = 0;
  for (const Value more : kMore) {
    std::vector<Value> counts;
    counts.reserve(kBlocks.size());
    for (const Value block : kBlocks) counts.push_back(image_tiles(image, block, more));
    const Expression these = lookup(knobs.block_n, kBlocks, std::move(counts));
    tiles = more == 0 ? these : ite(knobs.more_n == more, these, tiles);
  }
  return tiles;
}

// Rules for the steps, parts and tiles of a dispatch's kernel.
struct ContractionRules {
  const StatedProduct& product;
  const GemmDevice& device;
  const Expression& structure;
  const GemmKnobs& knobs;
  const GemmRules& rules;

  void structures(SpaceBuilder& builder) const {
    builder.require("split_k_structure", "programs that walk the tiles do not split k",
                    knobs.split_k == 1 || structure != kPersistent);
    builder.require("per_unit_structure", "PER_UNIT is for programs that walk the tiles",
                    knobs.per_unit == 1 || structure == kPersistent);
    builder.require("more_n_structure", "a second block is for tensor descriptors, without SPLIT_K",
                    knobs.more_n == 0 || (structure != kBlocked && knobs.split_k == 1));
    // Seen on an H100 with Triton 3.6: 512x3072x768 in tiles of 128x(64+32) reads beyond its
    // memory.
    builder.require("more_n_precision", "MORE_N is not for operands that are taken apart",
                    knobs.more_n == 0 || knobs.precision == kIeee);
    builder.require("more_n_least", "MORE_N is less than BLOCK_N", knobs.more_n < knobs.block_n);
    builder.require("tiles_to_walk", "{} tiles are no more than one for each of {} units",
                    structure != kPersistent || rules.tiles() > device.units,
                    {rules.tiles(), device.units});
  }

  // Rules for descriptors of an image: python/contraction.py refuses configurations that break
  // them.
  void image(SpaceBuilder& builder) const {
    if (!product.image.empty())
      builder.require(
          "swap_structure",
          "boxes of an image's pixels are read from shared memory as the second operand "
          "only, so with descriptors the product is computed transposed",
          (structure != kBlocked) == (knobs.swap == 1));
    if (product.tap != 0)
      builder.require("tap_steps",
                      "with descriptors a step stays within the {} elements of a tap: what lies "
                      "beyond them is another tap's",
                      structure == kBlocked || euclidean_mod(product.tap, knobs.block_k) == 0,
                      {product.tap});
  }

  // Programs that walk the tiles of an image keep the pipeline's buffers while the sums of a tile
  // pass from the matrix instructions' layout to the stores' through shared memory. Seen on an H200
  // with Triton 3.6, for 16 convolutions: all sums at once where a warp has 32 rows, a half where
  // it has 8, a half to an eighth where it has 16.
  void walked_images(SpaceBuilder& builder) const {
    const Expression rows = euclidean_div(knobs.block_m, knobs.warps);
    const Expression sums = knobs.block_m * knobs.block_n * 4;
    const Expression passed = euclidean_div(sums, ite(rows >= 32, 1, ite(rows >= 16, 4, 2)));
    const Expression bytes = rules.shared_bytes() + passed;
    builder.prefer("walked_sums",
                   "where programs walk the tiles of an image, buffers and sums take {} bytes of "
                   "shared memory; there are {}",
                   structure != kPersistent || bytes <= device.shared_bytes,
                   {bytes, device.shared_bytes});
  }

  void parts(SpaceBuilder& builder) const {
    builder.require("split_k_parts", "a part of k is at least one step; there are {}",
                    knobs.split_k <= rules.steps(), {rules.steps()});
    const Expression scratch =
        rules.tiles() * product.gemm.batch * knobs.block_m * knobs.block_n * 4 * knobs.split_k;
    builder.require("scratch", "the sums of all parts take {} bytes; there may be {}",
                    knobs.split_k == 1 || scratch <= kMostScratchBytes,
                    {scratch, kMostScratchBytes});
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
      .stages = builder.knob(
          "num_stages", "stages of the pipeline along the keys",
          device.is_cuda() ? std::vector<Value>{1, 2, 3, 4} : std::vector<Value>{1, 2, 3})};
  amd_knobs(builder, device, shape.element_bytes);
  AttentionRules{shape, device, knobs}.add(builder);
  return builder;
}

SpaceBuilder contraction_space_builder(const StatedProduct& product, const GemmDevice& device) {
  SpaceBuilder builder;
  const Gemm& gemm = product.gemm;
  const bool descriptors = product.descriptors && device.capability() >= 90 &&
                           (!product.joined || product.image.empty());
  const bool boxes = descriptors && !product.image.empty();
  const auto with_descriptors = [&](std::vector<Value> values) {
    return descriptors ? std::move(values) : std::vector<Value>{values.front()};
  };
  const Expression structure =
      builder.knob("STRUCTURE",
                   "kernel: 0 a program for each tile, 4 programs that walk the tiles, with tensor "
                   "descriptors, 5 a program for each tile, with descriptors",
                   // A walk makes its descriptors once; several products would need more.
                   with_descriptors(product.products > 1
                                        ? std::vector<Value>{kBlocked, kTilesTma}
                                        : std::vector<Value>{kBlocked, kPersistent, kTilesTma}));
  // Knobs of the GEMM kernels' rules that this kernel lacks are constants. It writes its tiles
  // without descriptors, like the blocked kernel in those rules. Only the kernel that walks the
  // tiles needs room for them beside its buffers; with boxes a rule of its own tells how much.
  const std::int64_t joined = product.joined ? product.products : 1;
  const auto for_one = [&](std::vector<Value> values) {
    return joined == 1 ? std::move(values) : std::vector<Value>{values.front()};
  };
  GemmKnobs knobs{
      .structure =
          boxes ? Expression(kBlocked) : ite(structure == kPersistent, kPersistent, kBlocked),
      .block_m = builder.knob("BLOCK_M", "rows of a tile", kBlocks),
      .block_n = builder.knob("BLOCK_N", "columns of a tile", kBlocks) * joined,
      .block_k = builder.knob("BLOCK_K", "depth of a step", {16, 32, 64, 128}),
      .group_m = builder.knob("GROUP_M", "rows of tiles that are walked together", {1, 4, 8}),
      .split_k = builder.knob("SPLIT_K", "parts of k",
                              for_one({1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32})),
      .per_unit = builder.knob("PER_UNIT", "programs of a multiprocessor that walk the tiles",
                               with_descriptors({1, 2})),
      .split_store = 0,
      .more_n = builder.knob("MORE_N", "columns of a second block beside that of BLOCK_N",
                             with_descriptors(for_one(kMore))),
      .swap = boxes ? builder.knob("SWAP",
                                   "1: the product is computed transposed, so that BLOCK_M goes "
                                   "along filters and BLOCK_N along an image's pixels",
                                   {0, 1})
                    : Expression(0),
      .warps = builder.knob("num_warps", "warps of a program", {1, 2, 4, 8}),
      .stages = builder.knob(
          "num_stages", "stages of the pipeline along k",
          device.is_cuda() ? std::vector<Value>{2, 3, 4, 5, 6} : std::vector<Value>{1, 2, 3}),
      .waves = 0,
      .nonkdim = 0,
      .precision = gemm.a == problem::ElementType::kF32 && device.capability() >= 80
                       ? builder.knob("PRECISION", kPrecisions, {kIeee, kBf16x6})
                       : Expression(kIeee)};
  std::tie(knobs.waves, knobs.nonkdim) = amd_knobs(builder, device, problem::byte_size(gemm.a));
  GemmRules rules{gemm, device, knobs};
  if (boxes) rules.tiles_of_swapped = tiles_of_pixels(product.image, knobs);
  rules.same_again(builder);
  rules.memory(builder);
  const ContractionRules own{product, device, structure, knobs, rules};
  own.structures(builder);
  if (descriptors) own.image(builder);
  own.parts(builder);
  if (boxes) own.walked_images(builder);
  rules.add_soft(builder);
  // Each element of a tile has its own epilogue instructions. The compiler takes seconds for them,
  // and an instruction cache holds few thousand.
  const Expression unrolled = rules.accumulators() * product.behind;
  builder.prefer("unrolled_behind",
                 "what is computed behind the sums is unrolled to {} instructions of a thread",
                 unrolled <= kMostUnrolled, {unrolled});
  return builder;
}

std::function<double(const space::Configuration&)> contraction_prior(const StatedProduct& product,
                                                                     const GemmDevice& device,
                                                                     const space::Space& space) {
  return [=, choice_of =
                 gemm_choices(product.gemm, space)](const space::Configuration& configuration) {
    GemmChoice choice = choice_of(configuration);
    if (product.joined) choice.block_n *= product.products;
    Gemm gemm = product.gemm;
    // Boxes that are partly outside take as long as whole ones.
    if (choice.swap != 0)
      gemm.m = image_tiles(product.image, choice.block_n, choice.more_n) *
               (choice.block_n + choice.more_n);
    return estimate(gemm, device, choice, &product).seconds;
  };
}

}  // namespace hone::triton
