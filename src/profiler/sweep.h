// Shapes to generate: lists and ranges of each dimension, a workload file, and the old tool's
// defaults.
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

// Parses "64,128", "64:1024:128" (start:end:increment, without the end; the increment defaults to
// 1) or both with commas between. `flag` names the option in errors. Input errors: anything that is
// no number, a number that is too large, an end below its start, an increment that is not positive,
// a range without numbers.
Result<std::vector<std::int64_t>> read_extents(std::string_view flag, std::string_view text);

// Lists of values; every valid combination is an operation.
struct Sweep {
  std::vector<NamedOperationKind> kinds;  // empty: those that the extents mean (chosen_operations)
  // Values by the names of extent_names(); an absent or empty one has its default.
  std::map<std::string, std::vector<std::int64_t>, std::less<>> extents;
  std::vector<Types> types;  // empty: f16, f32 and f16 to f32 for matmul, else f16 and f32
  std::vector<std::string>
      layouts;  // "tt", "tn", "nt", "nn"; of convolutions "nhwc", "nchw"; empty: "tt", "nhwc"
};

// Returns "m", "n", "k", "batch", "split_k_slices", and for convolutions "images", "height",
// "width", "channels", "filters", "filter_height", "filter_width", "stride", "dilation", "padding",
// "groups".
const std::vector<std::string>& extent_names();
// Returns the extents that a kind takes.
std::vector<std::string> extent_names_of(NamedOperationKind kind);

// Returns the operations of `sweep.kinds`: in the order of kinds, then of sizes with the last
// extent fastest, then of types and layouts. Defaults: m, n, k are 256, as in the old tool; batch
// 16; slices 2, 4, 16 and 18; channels and filters 64; heights and widths 56; filters 3 x 3;
// padding 0; all others 1. Skips slices that do not divide k, as the old tool does, and groups that
// do not divide channels or filters, as long as anything is left. With several kinds
// chosen_operations() also skips the types that a kind does not take. Input errors: those of
// check(), an unknown extent or layout, more than a million operations.
Result<std::vector<NamedOperation>> operations_of(const Sweep& sweep);

// Returns the operations that a command line selects. If `sweep` gives extents of a kind, the kind
// is swept (operations_of). Otherwise it has its default shapes: the old tool's, or for newer kinds
// some of ResNet-50, BERT and Stable Diffusion XL. If `sweep` names no kinds, they follow from its
// extents. Without extents all kinds are meant. Extents of convolutions select conv2d, slices
// matmul_splitk, a batch batch_matmul, and m, n or k without these matmul. Input errors: those of
// operations_of(), and an extent that no selected kind takes.
Result<std::vector<NamedOperation>> chosen_operations(const Sweep& sweep);

// Appends "f16" (all three), "f16,f16,f32" or "all" to `types`. An input error that names `flag`.
Status read_types(std::string_view flag, std::string_view text, std::vector<Types>& types);
// Appends "tn", "nchw" or "all" (of either kind) to `layouts`. An input error that names `flag`.
Status read_layouts(std::string_view flag, std::string_view text,
                    std::vector<std::string>& layouts);

// Reads the operations of a workload file, in YAML: a list, by itself or under the key
// "operations". Its items are
// - names: matmul_768x512x1024_f16t_f16t_f16t;
// - maps: kind (a name or a list); the dimensions by extent_names(), each a number, a list or a
//   text "start:end:increment"; types and layouts (a text or a list of them) as --types and
//   --layouts take them. Inside {} a text with commas needs quotes.
// Input errors give the file, the line and the allowed values.
Result<std::vector<NamedOperation>> read_workload(const std::string& path);

}  // namespace hone::profiler
