#include <algorithm>
#include <set>

#include "base/ranges.h"
#include "provider/iree/cpu/loops.h"
#include "provider/iree/cpu/rules.h"
#include "provider/iree/cpu/space.h"
#include "space/configuration.h"

namespace hone::iree {
namespace {

// Input of the rules for convolutions, one function each; rules.h has the rules shared with
// contractions. All are soft: IREE compiles configurations that break them. "IREE" is the
// compiler's source at 3.13 (compiler/src/iree/compiler/Codegen); "measured" is docs/spaces.md.
// one_image_row_at_a_time is for scalar convolutions only, the others for vectorised ones only.
struct ConvolutionContext {
  RuleContext common;  // of convolution.nest
  const ConvolutionLoops& convolution;
  space::Expression decompose = 0;  // 1: ConvTileAndDecomposeExpert, 0: DoubleTilingExpert
};

using space::Expression;

// IREE, DecomposeConvolutionToLowerDimOps: a two-dimensional convolution becomes a one-dimensional
// one if one image loop and its filter loop are 1 in the innermost tile. MLIR's vectoriser takes
// one-dimensional convolutions only. Others silently stay a nest of scalar loops: IREE checks named
// operations only, and every convolution is a linalg.generic by then. This follows from those
// passes. The cost was measured on one convolution (nhwc 2x28x28x64x3x3x64: 0.9 ms, not decomposed
// 43 to 76 ms).
void taken_apart_to_one_dimension(const ConvolutionContext& context, space::SpaceBuilder& builder) {
  if (context.convolution.form != ConvolutionForm::kDecomposed) return;
  std::vector<Expression> removed;
  for (std::size_t d = 0; d < context.convolution.image.size(); ++d)
    removed.push_back(context.common.innermost(context.convolution.image[d]) == 1 &&
                      context.common.innermost(context.convolution.filter[d]) == 1);
  builder.prefer("taken_apart_to_one_dimension",
                 "only a convolution of one dimension becomes vectors: decompose = {} has to be 1, "
                 "and vec_oh and red_kh, or vec_ow and red_kw",
                 context.decompose == 1 && space::any_of(removed), {context.decompose});
}

// The counterpart of lanes_filled for contractions. A row of the output that is no multiple of a
// register (channels first: the image's width) is cut into the longest equal pieces that fit one
// register. This part was fitted to one convolution (nchw, f32, rows of 28: 14 at a time 1.6 ms, 7
// 3.8 ms, 28 5.4 ms) and is a guess for all others. As a soft rule it can be relaxed
// (searchable_space), and --relax drops it.
void row_fills_registers(const ConvolutionContext& context, space::SpaceBuilder& builder) {
  const RuleContext& common = context.common;
  const auto& tile = common.vec[to_index(common.loops.lane)];
  if (!tile) return;
  const std::int64_t size = common.loops.loops[to_index(common.loops.lane)].size;
  std::vector<Expression> good;
  for (const std::int64_t registers : {1, 2, 4})
    if (size % (registers * common.lanes()) == 0)
      good.push_back(*tile == registers * common.lanes());
  if (good.empty()) {
    std::int64_t piece = std::min(size, common.lanes());
    while (size % piece != 0) --piece;
    good.push_back(*tile == piece);
  }
  builder.prefer("row_fills_registers",
                 "{} elements of a row at a time are not one, two or four registers (" +
                     std::to_string(common.lanes()) + " elements each), nor equal pieces of it",
                 space::any_of(good), {*tile});
}

// Eight independent sums keep two multiply-add units of four cycles latency busy (Intel since
// Skylake, AMD since Zen 2: uops.info), and use each value of the image and the filter more than
// once. A convolution without input channels waits for memory instead.
void sums_in_flight(const ConvolutionContext& context, space::SpaceBuilder& builder) {
  if (!context.convolution.sums_channels) return;
  const RuleContext& common = context.common;
  std::int64_t most = 1;
  for (const int loop : common.loops.parallel) {
    const ContractionLoop& each = common.loops.loops[to_index(loop)];
    if (!common.vec[to_index(loop)]) continue;
    most *=
        loop == common.loops.lane ? (each.size + common.lanes() - 1) / common.lanes() : each.size;
  }
  const std::int64_t wanted = std::min<std::int64_t>(8, most);
  builder.prefer("sums_in_flight",
                 "{} registers of sums do not cover the latency of the multiply-add units "
                 "(wanted: " +
                     std::to_string(wanted) + ")",
                 common.accumulators() >= wanted, {common.accumulators()});
}

// Convolutions that are not vectorised run as scalar loops, whose inner ones LLVM unrolls. Tiles in
// several image dimensions only add loops.
void one_image_row_at_a_time(const ConvolutionContext& context, space::SpaceBuilder& builder) {
  const auto& image = context.convolution.image;
  for (std::size_t d = 0; d + 1 < image.size(); ++d)
    builder.prefer("one_image_row_at_a_time",
                   "{} rows of the image in one innermost tile of scalar loops",
                   context.common.innermost(image[d]) == 1, {context.common.innermost(image[d])});
}

using space::Value;

constexpr Value kLargestVectorTile = 256, kLargestUnroll = 64;

// `sizes` and the divisors of `size`, at most `most` and the size itself.
std::vector<Value> inner_sizes(std::initializer_list<Value> sizes, std::int64_t size, Value most) {
  std::set<Value> kept;
  for (const Value value : sizes)
    if (value <= size) kept.insert(value);
  for (Value value = 1; value <= std::min<Value>(size, most); ++value)
    if (size % value == 0) kept.insert(value);
  return {kept.begin(), kept.end()};
}

// Register tiles: all small ones, and larger ones for loops of powers of two or three.
std::vector<Value> convolution_vector_sizes(std::int64_t size) {
  return inner_sizes({1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 48, 64, 80, 96, 128},
                     size, kLargestVectorTile);
}

void add_knobs(ConvolutionContext& context, space::SpaceBuilder& builder) {
  RuleContext& common = context.common;
  context.decompose = builder.knob(
      "decompose", "pipeline: 1 ConvTileAndDecomposeExpert, 0 DoubleTilingExpert", {0, 1});
  const auto& loops = common.loops.loops;
  // Outer tiles first: they decide the most, and enumeration follows this order.
  for (std::size_t i = 0; i < loops.size(); ++i)
    if (!loops[i].reduction)
      common.dist[i] =
          add_distribution(builder, loops[i].label, loops[i].label, tile_sizes(loops[i].size));
  for (std::size_t i = 0; i < loops.size(); ++i)
    if (!loops[i].reduction && loops[i].role != problem::LoopRole::kBatch)
      common.vec[i] =
          builder.knob(tile_knob("vec", loops[i].label),
                       "vector_common_parallel tile: " + loops[i].label + " of the register tile",
                       convolution_vector_sizes(loops[i].size));
  for (std::size_t i = 0; i < loops.size(); ++i)
    if (loops[i].reduction)
      common.red[i] =
          builder.knob(tile_knob("red", loops[i].label),
                       "vector_reduction tile: steps of " + loops[i].label + " unrolled",
                       inner_sizes({1, 2, 4, 8, 16, 32}, loops[i].size, kLargestUnroll));
  common.peel = add_peeling(builder);
}

// The soft rules in the order in which they give way where together they leave nothing.
constexpr std::string_view kConvolutionRelaxationOrder[] = {
    "threads_evenly_busy",       "workgroups_worth_starting", "sums_in_flight",
    "unrolled_code_small",       "row_fills_registers",       "tiles_divide",
    "accumulators_fit_registers"};

}  // namespace

Result<space::Space> llvm_cpu_convolution_space(const problem::Operation& operation,
                                                const problem::CpuTarget& target,
                                                std::string_view audited) {
  HONE_TRY(check_vectors(target));
  HONE_ASSIGN(const ConvolutionLoops loops, convolution_loops(operation));
  const RuleContext::Tiles none(loops.nest.loops.size());
  ConvolutionContext context{.common = {.operation = operation,
                                        .target = target,
                                        .loops = loops.nest,
                                        .dist = none,
                                        .cache = none,
                                        .vec = none,
                                        .red = none,
                                        .boundaries_vectorised = false},
                             .convolution = loops};
  space::SpaceBuilder builder;
  add_knobs(context, builder);
  for (const auto rule :
       {vector_tile_within_block, vectors_within_compiler_limit, peeling_needs_remainders,
        tiles_divide, threads_evenly_busy, workgroups_worth_starting})
    rule(context.common, builder);
  if (loops.form == ConvolutionForm::kScalar) {
    one_image_row_at_a_time(context, builder);
  } else {
    accumulators_fit_registers(context.common, builder);
    unrolled_code_small(context.common, builder);
    for (const auto rule : {taken_apart_to_one_dimension, row_fills_registers, sums_in_flight})
      rule(context, builder);
  }
  return searchable_space(std::move(builder), kConvolutionRelaxationOrder, audited);
}

using space::Value;

Result<Attributes> llvm_cpu_convolution_attributes(const problem::Operation& operation,
                                                   const space::Space& space,
                                                   const space::Configuration& configuration) {
  HONE_ASSIGN(const ConvolutionLoops loops, convolution_loops(operation));
  const std::size_t count = loops.nest.loops.size();
  TileLevel distribution(count), parallel(count), reduction(count);
  for (std::size_t i = 0; i < count; ++i) {
    const ContractionLoop& loop = loops.nest.loops[i];
    const auto tile = [&](std::string_view level) {
      return space.value(configuration, tile_knob(level, loop.label));
    };
    if (loop.reduction) {
      HONE_ASSIGN(reduction[i], tile("red"));
      continue;
    }
    HONE_ASSIGN(distribution[i], tile("dist"));
    parallel[i] = 1;
    if (loop.role == problem::LoopRole::kBatch) continue;
    HONE_ASSIGN(parallel[i], tile("vec"));
  }
  HONE_ASSIGN(const Value peel, space.value(configuration, "peel"));
  HONE_ASSIGN(const Value decompose, space.value(configuration, "decompose"));

  Attributes attributes;
  attributes.lowering_config = lowering_config_text({{"distribution", distribution},
                                                     {"vector_common_parallel", parallel},
                                                     {"vector_reduction", reduction}});
  attributes.translation_info = translation_info_text(
      decompose != 0 ? "ConvTileAndDecomposeExpert" : "DoubleTilingExpert", peel != 0);
  return attributes;
}

}  // namespace hone::iree
