#include "provider/iree/cpu/convolution_rules.h"

namespace hone::iree {
namespace {

using space::constant;
using space::Expression;

}  // namespace

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
// (rule_relaxation.h), and --relax drops it.
void row_fills_registers(const ConvolutionContext& context, space::SpaceBuilder& builder) {
  const RuleContext& common = context.common;
  const auto& tile = common.vec[static_cast<std::size_t>(common.loops.lane)];
  if (!tile) return;
  const std::int64_t size = common.loops.loops[static_cast<std::size_t>(common.loops.lane)].size;
  std::vector<Expression> good;
  for (const std::int64_t registers : {1, 2, 4})
    if (size % (registers * common.lanes()) == 0)
      good.push_back(*tile == constant(registers * common.lanes()));
  if (good.empty()) {
    std::int64_t piece = std::min(size, common.lanes());
    while (size % piece != 0) --piece;
    good.push_back(*tile == constant(piece));
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
    const ContractionLoop& each = common.loops.loops[static_cast<std::size_t>(loop)];
    if (!common.vec[static_cast<std::size_t>(loop)]) continue;
    most *=
        loop == common.loops.lane ? (each.size + common.lanes() - 1) / common.lanes() : each.size;
  }
  const std::int64_t wanted = std::min<std::int64_t>(8, most);
  builder.prefer("sums_in_flight",
                 "{} registers of sums do not cover the latency of the multiply-add units "
                 "(wanted: " +
                     std::to_string(wanted) + ")",
                 common.accumulators() >= constant(wanted), {common.accumulators()});
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

}  // namespace hone::iree
