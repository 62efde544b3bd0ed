// Operation of the dispatch profiler: what is computed, at which sizes, of which element types, in
// which layouts. Its name states all of it, so that a tree of files is its own index. Names of
// matrix products are those of IREE's former dispatch profiler. The others are defined here and in
// docs/dispatch-profiler.md.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "problem/types.h"

namespace hone::profiler {

// Kinds in the order in which they are generated and listed.
enum class NamedOperationKind {
  kMatmul,
  kSplitKMatmul,
  kBatchMatmul,
  kConv2d,
  kMatmulBiasRelu,
  kMatmulBiasGelu,
  kMatmulBiasAdd,  // and a further matrix of the result's shape: the residual
  kConv2dBiasRelu,
  kAttention,
};
using enum NamedOperationKind;
inline constexpr std::array kOperationKinds = {kMatmul,        kSplitKMatmul,   kBatchMatmul,
                                               kConv2d,        kMatmulBiasRelu, kMatmulBiasGelu,
                                               kMatmulBiasAdd, kConv2dBiasRelu, kAttention};

// Returns "matmul", "matmul_splitk", "batch_matmul", "conv2d", "matmul_bias_relu",
// "matmul_bias_gelu", "matmul_bias_add", "conv2d_bias_relu" or "attention", for names, folders and
// the column op_kind.
std::string_view name_of(NamedOperationKind kind);
// Returns the name on the screen: "OperationKind.Matmul", "OperationKind.SplitkMatmul", ...
std::string_view screen_name_of(NamedOperationKind kind);
// Parses a name. An input error names the nearest and all kinds.
Result<NamedOperationKind> operation_kind_from(std::string_view name);
bool is_convolution(NamedOperationKind kind);
// Returns whether the kind has a batch (for attention: the heads).
bool is_batched(NamedOperationKind kind);
// Returns whether a bias is an input and added.
bool has_bias(NamedOperationKind kind);

// Layouts as cuBLAS writes them. Row major: lhs is m x k, rhs is k x n in memory; column major: k x
// m and n x k.
enum class Layout { kRowMajor, kColumnMajor };  // "t", "n"
enum class ConvLayout { kNhwc, kNchw };         // filters are hwcf and fchw
using enum Layout;
using enum ConvLayout;
using enum problem::ElementType;

// Dimensions of a convolution of images. Extents in elements; padding is of zeros, the same on both
// sides.
struct ConvDims {
  std::int64_t images = 1, height = 0, width = 0, channels = 0;  // of the input, before padding
  std::int64_t filters = 0, filter_height = 1, filter_width = 1;
  std::int64_t stride_height = 1, stride_width = 1;
  std::int64_t dilation_height = 1, dilation_width = 1;
  std::int64_t padding_height = 0, padding_width = 0;
  std::int64_t groups = 1;  // divides channels and filters
  ConvLayout layout = kNhwc;

  bool operator==(const ConvDims&) const = default;
  std::int64_t output_height() const;
  std::int64_t output_width() const;
};

struct NamedOperation {
  NamedOperationKind kind = kMatmul;
  // Dimensions of matrix products. Attention has `batch` heads, m queries, n keys and values, k
  // elements in each.
  std::int64_t batch = 1, m = 0, n = 0, k = 0;
  std::int64_t split_k_slices = 1;  // divides k; 1 except for kSplitKMatmul
  ConvDims conv;                    // of convolutions only
  problem::ElementType lhs = kF16;
  problem::ElementType rhs = kF16;
  problem::ElementType result = kF16;  // sums are of this type too, and so is the bias
  Layout lhs_layout = kRowMajor;       // of matrix products only
  Layout rhs_layout = kRowMajor;

  bool operator==(const NamedOperation&) const = default;

  // Returns the name:
  // "matmul_3456x1024x2048_f16t_f16t_f16t", "batch_matmul_16x512x64x512_f32t_f32n_f32t",
  // "matmul_splitk_128x128x12288_f16t_f16t_f16t_parallel4",
  // "conv2d_2x34x34x128_256x3x3_s1x1_d1x1_p0x0_g1_f16nhwc_f16hwcf_f16nhwc" (input as images x
  // height x width x channels in either layout, filters x height x width, stride, dilation,
  // padding, groups), "attention_20x4096x4096x64_f16t_f16t_f16t".
  std::string name() const;

  // Equivalent matrix product, for columns and rooflines. A convolution has its groups, images x
  // output pixels, filters of a group, elements under the filter; others batch, m, n, k.
  struct Product {
    std::int64_t batch, m, n, k;
  };
  Product product() const;

  // Returns the shapes of the function's arguments in order (lhs, rhs, bias, residual; for
  // attention query, key and value), and of its result.
  std::vector<problem::TensorType> inputs() const;
  problem::TensorType output() const;
  // Returns the name of each input: "lhs", "rhs", "bias", "residual"; "query", "key", "value".
  std::vector<std::string_view> input_names() const;

  // Returns the bytes of inputs and output, each once. The old tool's rounding does not change them
  // for these types.
  std::int64_t bytes() const;
  // Returns the multiplications and additions of the products alone, without fused operations: 2 x
  // batch x m x n x k, for attention twice that.
  std::int64_t flops() const;
};

// Checks that the operation can be generated. Input errors: extents below 1, elements or layouts
// that the kind does not take, groups or slices that do not divide, a filter larger than the padded
// input, tensors of 2^40 elements or more.
Status check(const NamedOperation& operation);

// Returns whether the kind takes the operation's element types.
bool takes_types(const NamedOperation& operation);

// Parses a name: parse_operation(x.name()) == x. Input errors: a part that does not fit, and those
// of check().
Result<NamedOperation> parse_operation(std::string_view name);

// Returns the parts of `text` between the characters `at`, empty ones too.
std::vector<std::string_view> split(std::string_view text, char at);

// Spells an element type as the old tool does: "f16", "bf16", "f32", "s8", "s32". type_from() also
// reads "i8" and "i32"; an input error for others.
std::string type_name(problem::ElementType type);
Result<problem::ElementType> type_from(std::string_view name);

// Element types that are generated (lhs, rhs, result): all f32, f16 or bf16, f16 or bf16 to f32, s8
// to s32.
using Types = std::array<problem::ElementType, 3>;
std::span<const Types> generated_types();

// Returns the old tool's arguments as (name, value), in the order of the CSV file's columns:
// batch_count, m, n, k, lhs, rhs, result, split_k_mode, split_k_slices. The last two are "N/A"
// without slices.
std::vector<std::pair<std::string, std::string>> arguments_of(const NamedOperation& operation);
// Returns arguments that the old tool has no columns for: conv_input, conv_filter, conv_stride,
// conv_dilation, conv_padding, conv_groups. They are "N/A" unless the operation is a convolution.
// Their columns come after all old ones.
std::vector<std::pair<std::string, std::string>> further_arguments_of(
    const NamedOperation& operation);
// Returns the lines behind "Arguments     : ": "--batch_count=1 --m=3456 ... --result=f16t", then
// "--split_k_mode=N/A --split_k_slices=N/A", and for a convolution a third line.
std::vector<std::string> argument_lines(const NamedOperation& operation);

}  // namespace hone::profiler
