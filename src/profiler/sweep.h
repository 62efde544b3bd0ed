// Shapes to generate: lists and ranges of each dimension, and what the old tool generates by
// itself.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "profiler/operation.h"

namespace hone::profiler {

// "64,128", "64:1024:128" (start:end:increment, the end not among them; an increment of 1 may be
// left out) or both with commas between. `flag` names it in errors: input errors for what is no
// number, a number that is too large, an end below its start, an increment that is not positive and
// a range without numbers.
Result<std::vector<std::int64_t>> read_extents(std::string_view flag, std::string_view text);

// Every combination of these is an operation, where it can be one.
struct Sweep {
  std::vector<OperationKind> kinds;  // empty: those that the extents mean (chosen_operations)
  // By the names of extent_names(); one that is not here, or empty, has its default.
  std::map<std::string, std::vector<std::int64_t>, std::less<>> extents;
  std::vector<Types> types;  // empty: those of the kind (default_types)
  std::vector<std::string>
      layouts;  // "tt", "tn", "nt", "nn"; of convolutions "nhwc", "nchw"; empty: "tt", "nhwc"
};

// "m", "n", "k", "batch", "split_k_slices", and of convolutions "images", "height", "width",
// "channels", "filters", "filter_height", "filter_width", "stride", "dilation", "padding",
// "groups".
const std::vector<std::string>& extent_names();
// Those that a kind takes.
std::vector<std::string> extent_names_of(OperationKind kind);

// The operations of `sweep.kinds`: in the order of kinds, then of sizes with the last extent
// fastest, then of types and layouts. m, n, k are 256 where they are not given, as in the old tool,
// batch is 16, slices 2, 4, 16 and 18, channels and filters 64, heights and widths 56, filters 3 x
// 3, padding 0, all others 1. Left out, as long as anything is left: slices that do not divide k,
// as there, and groups that do not divide channels or filters; by chosen_operations() also, where
// there are several kinds the types that one does not take. Input errors: those of check(), an
// extent or layout that there is not, more than a million operations.
Result<std::vector<Operation>> operations_of(const Sweep& sweep);

// What is generated where nobody names types: f16, f32 and f16 to f32 of matmul, f16 and f32 of the
// others.
std::vector<Types> default_types(OperationKind kind);

// What a command line means. A kind of which `sweep` gives an extent is swept (operations_of); one
// of which it gives none has its default shapes: the old tool's, and for kinds that it never had
// some of ResNet-50, BERT and Stable Diffusion XL. Where `sweep` names no kinds: all of them where
// it gives no extent, else conv2d for those of convolutions, matmul_splitk for slices, batch_matmul
// for a batch, and matmul where m, n or k are given without these. Input errors: those of
// operations_of(), and an extent that no kind among those named takes.
Result<std::vector<Operation>> chosen_operations(const Sweep& sweep);

}  // namespace hone::profiler
