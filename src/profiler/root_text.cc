// Root operations: matrix products, split ones, convolutions, attention.
#include <cmath>

#include "profiler/function_text.h"

namespace hone::profiler {
namespace {

using problem::ElementType;
using problem::TensorType;

bool is_row_major(Layout layout) {
  return layout == Layout::kRowMajor;
}

std::string affine(std::string_view loops, std::string_view indices) {
  return fmt::format("affine_map<({}) -> ({})>", loops, indices);
}

// Returns the type of the sums, before they are rounded.
TensorType sums_of(const Operation& operation) {
  return {sum_type(operation), operation.output().shape};
}

// Returns "ins(%lhs, %rhs : ...) outs(%sums : ...)".
std::string operands_text(std::string_view lhs, const TensorType& lhs_type, std::string_view rhs,
                          const TensorType& rhs_type, std::string_view out,
                          const TensorType& type) {
  return fmt::format("ins({}, {} : {}, {}) outs({} : {})", lhs, rhs, tensor_text(lhs_type),
                     tensor_text(rhs_type), out, tensor_text(type));
}

std::string generic_attributes(std::string_view configuration) {
  return configuration.empty() ? "" : " attrs =" + info_dictionary(configuration);
}

// Returns the padded input, or %lhs if there is no padding, and sets `type` to its type.
std::string padded_text(const Operation& operation, TensorType& type, FunctionBody& body) {
  const ConvDims& c = operation.conv;
  if (c.padding_height == 0 && c.padding_width == 0) return "%lhs";
  const std::string from = tensor_text(type);
  const std::size_t first = c.layout == ConvLayout::kNhwc ? 1 : 2;
  std::vector<std::int64_t> sides(4, 0);
  sides[first] = c.padding_height;
  sides[first + 1] = c.padding_width;
  for (std::size_t i = 0; i < 4; ++i) type.shape[i] += 2 * sides[i];
  body.line("%border = arith.constant {} : {}", problem::is_float(type.element) ? "0.0" : "0",
            problem::name_of(type.element));
  body.line("%padded = tensor.pad %lhs low[{0}] high[{0}] {{", fmt::join(sides, ", "));
  body.line("^bb0(%p0: index, %p1: index, %p2: index, %p3: index):");
  body.line("  tensor.yield %border : {}", problem::name_of(type.element));
  body.line("}} : {} to {}", from, tensor_text(type));
  return "%padded";
}

// Expands dimension `at` of `value` to groups x the rest. Returns the new value's name, and sets
// `type` to its type.
std::string grouped_text(std::string_view value, std::size_t at, std::int64_t groups,
                         TensorType& type, FunctionBody& body) {
  const std::string from = tensor_text(type);
  std::vector<std::string> pieces;
  std::size_t next = 0;
  for (std::size_t i = 0; i < type.shape.size(); ++i) {
    pieces.push_back(i == at ? fmt::format("[{}, {}]", next, next + 1) : fmt::format("[{}]", next));
    next += i == at ? 2 : 1;
  }
  const std::int64_t each = type.shape[at] / groups;
  type.shape[at] = groups;
  type.shape.insert(type.shape.begin() + static_cast<std::ptrdiff_t>(at) + 1, each);
  body.line("{0}_grouped = tensor.expand_shape {0} [{1}] output_shape [{2}]", value,
            fmt::join(pieces, ", "), fmt::join(type.shape, ", "));
  body.line("    : {} into {}", from, tensor_text(type));
  return fmt::format("{}_grouped", value);
}

// Returns the index of the input's row (or column) under one of the filter: "oh * 2 + kh * 1".
std::string walk(std::string_view out, std::int64_t stride, std::string_view filter,
                 std::int64_t dilation) {
  return fmt::format("{} * {} + {} * {}", out, stride, filter, dilation);
}

std::string grouped_convolution(const Operation& operation, std::string_view configuration,
                                std::string_view input, TensorType image, FunctionBody& body) {
  const ConvDims& c = operation.conv;
  const bool nhwc = c.layout == ConvLayout::kNhwc;
  TensorType filter = operation.inputs()[1];
  const std::string x = grouped_text(input, nhwc ? 3 : 1, c.groups, image, body);
  const std::string w = grouped_text("%rhs", nhwc ? 3 : 0, c.groups, filter, body);
  TensorType out = sums_of(operation);
  const std::string result = tensor_text(out);
  const std::size_t channel = nhwc ? 3 : 1;
  out.shape[channel] /= c.groups;
  out.shape.insert(out.shape.begin() + static_cast<std::ptrdiff_t>(channel), c.groups);
  body.zeros("%sums", out);
  const std::string_view loops = nhwc ? "n, oh, ow, g, f, kh, kw, c" : "n, g, f, oh, ow, c, kh, kw";
  const std::string h = walk("oh", c.stride_height, "kh", c.dilation_height);
  const std::string v = walk("ow", c.stride_width, "kw", c.dilation_width);
  const std::string at =
      nhwc ? fmt::format("n, {}, {}, g, c", h, v) : fmt::format("n, g, c, {}, {}", h, v);
  body.line("%grouped = linalg.generic {{indexing_maps = [{},", affine(loops, at));
  body.line("    {}, {}],", affine(loops, nhwc ? "kh, kw, c, g, f" : "g, f, c, kh, kw"),
            affine(loops, nhwc ? "n, oh, ow, g, f" : "n, g, f, oh, ow"));
  body.line(
      "    iterator_types = [\"parallel\", \"parallel\", \"parallel\", \"parallel\", "
      "\"parallel\",");
  body.line("      \"reduction\", \"reduction\", \"reduction\"]}}");
  body.line("    {}{} {{", operands_text(x, image, w, filter, "%sums", out),
            generic_attributes(configuration));
  body.line("{}", multiply_add_region(operation).substr(2));
  body.line("}} -> {}", tensor_text(out));
  body.line("%product = tensor.collapse_shape %grouped [{}] : {} into {}",
            nhwc ? "[0], [1], [2], [3, 4]" : "[0], [1, 2], [3], [4]", tensor_text(out), result);
  return "%product";
}

}  // namespace

std::string matmul_text(const Operation& operation, std::string_view configuration,
                        FunctionBody& body) {
  const bool batched = operation.kind == OperationKind::kBatchMatmul;
  const TensorType out = sums_of(operation);
  body.zeros("%sums", out);
  std::string maps;
  if (!is_row_major(operation.lhs_layout) || !is_row_major(operation.rhs_layout)) {
    const std::string lead = batched ? "b, " : "";
    const std::string loops = lead + "m, n, k";
    maps = fmt::format(" indexing_maps = [{}, {}, {}]",
                       affine(loops, lead + (is_row_major(operation.lhs_layout) ? "m, k" : "k, m")),
                       affine(loops, lead + (is_row_major(operation.rhs_layout) ? "k, n" : "n, k")),
                       affine(loops, lead + "m, n"));
  }
  const auto inputs = operation.inputs();
  body.line("%product = linalg.{}{}{}", batched ? "batch_matmul" : "matmul", maps,
            info_dictionary(configuration));
  body.line("    {} -> {}", operands_text("%lhs", inputs[0], "%rhs", inputs[1], "%sums", out),
            tensor_text(out));
  return "%product";
}

std::string split_k_text(const Operation& operation, std::string_view configuration,
                         FunctionBody& body) {
  const auto inputs = operation.inputs();
  TensorType lhs = inputs[0], rhs = inputs[1];
  const bool lhs_rows = is_row_major(operation.lhs_layout);
  const bool rhs_rows = is_row_major(operation.rhs_layout);
  const std::string a = grouped_text("%lhs", lhs_rows ? 1 : 0, operation.split_k_slices, lhs, body);
  const std::string b = grouped_text("%rhs", rhs_rows ? 0 : 1, operation.split_k_slices, rhs, body);
  const TensorType slices = {sum_type(operation),
                             {operation.split_k_slices, operation.m, operation.n}};
  body.zeros("%slices", slices);
  constexpr std::string_view kLoops = "s, m, n, k";
  body.line("%partial = linalg.generic {{indexing_maps = [{}, {}, {}],",
            affine(kLoops, lhs_rows ? "m, s, k" : "s, k, m"),
            affine(kLoops, rhs_rows ? "s, k, n" : "n, s, k"), affine(kLoops, "s, m, n"));
  body.line("    iterator_types = [\"parallel\", \"parallel\", \"parallel\", \"reduction\"]}}");
  body.line("    {}{} {{", operands_text(a, lhs, b, rhs, "%slices", slices),
            generic_attributes(configuration));
  body.line("{}", multiply_add_region(operation).substr(2));
  body.line("}} -> {}", tensor_text(slices));
  const TensorType out = sums_of(operation);
  body.zeros("%sums", out);
  body.line("%product = linalg.reduce {{ arith.{} }} ins(%partial : {}) outs(%sums : {})",
            problem::is_float(out.element) ? "addf" : "addi", tensor_text(slices),
            tensor_text(out));
  body.line("    dimensions = [0]");
  return "%product";
}

std::string convolution_text(const Operation& operation, std::string_view configuration,
                             FunctionBody& body) {
  const ConvDims& c = operation.conv;
  const auto inputs = operation.inputs();
  TensorType image = inputs[0];
  const std::string input = padded_text(operation, image, body);
  if (c.groups > 1) return grouped_convolution(operation, configuration, input, image, body);
  const TensorType out = sums_of(operation);
  body.zeros("%sums", out);
  body.line("%product = linalg.conv_2d_{}",
            c.layout == ConvLayout::kNhwc ? "nhwc_hwcf" : "nchw_fchw");
  body.line(
      "    {{dilations = dense<[{}, {}]> : tensor<2xi64>, strides = dense<[{}, {}]> : "
      "tensor<2xi64>{}}}",
      c.dilation_height, c.dilation_width, c.stride_height, c.stride_width,
      info_attribute(configuration));
  body.line("    {} -> {}", operands_text(input, image, "%rhs", inputs[1], "%sums", out),
            tensor_text(out));
  return "%product";
}

std::string attention_text(const Operation& operation, std::string_view configuration,
                           FunctionBody& body) {
  const auto inputs = operation.inputs();
  const TensorType out = operation.output();
  const std::string_view element = problem::name_of(out.element);
  constexpr std::string_view kLoops = "b, m, d, k, n";  // d: of a value's elements, n: of the keys
  body.line("%scale = arith.constant {:.17e} : {}",
            1.0 / std::sqrt(static_cast<double>(operation.k)), element);
  body.line("%out_empty = tensor.empty() : {}", tensor_text(out));
  body.line("%product = iree_linalg_ext.attention <{{indexing_maps = [");
  body.line("    {}, {}, {},", affine(kLoops, "b, m, k"), affine(kLoops, "b, n, k"),
            affine(kLoops, "b, n, d"));
  body.line("    {}, {}]}}>{}", affine(kLoops, ""), affine(kLoops, "b, m, d"),
            info_dictionary(configuration));
  body.line("    ins(%query, %key, %value, %scale : {}, {}, {}, {}) outs(%out_empty : {}) {{",
            tensor_text(inputs[0]), tensor_text(inputs[1]), tensor_text(inputs[2]), element,
            tensor_text(out));
  body.line("^bb0(%score: f32):");
  body.line("  iree_linalg_ext.yield %score : f32");
  body.line("}} -> {}", tensor_text(out));
  return "%product";
}

}  // namespace hone::profiler
