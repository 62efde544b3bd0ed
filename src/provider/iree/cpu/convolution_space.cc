#include "provider/iree/cpu/convolution_space.h"

#include <algorithm>
#include <set>

#include "provider/iree/cpu/convolution_rules.h"
#include "provider/iree/cpu/knobs.h"
#include "provider/iree/cpu/rule_relaxation.h"

namespace hone::iree {
namespace {

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

}  // namespace hone::iree
