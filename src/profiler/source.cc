#include "profiler/source.h"

#include <fmt/format.h>

#include <cmath>
#include <string_view>
#include <utility>
#include <utility>
#include <vector>

namespace hone::profiler {
namespace {

using problem::ElementType;
using problem::TensorType;

std::string_view zero_of(ElementType type) {
  return problem::is_float(type) ? "0.0" : "0";
}

// Extends `value` of type `from` to `to`, which is not narrower. Returns the new value's name.
std::string extended(std::string& lines, const std::string& value, ElementType from,
                     ElementType to) {
  if (from == to) return value;
  lines += fmt::format("    {}_wide = arith.{} {} : {} to {}\n", value,
                       problem::is_float(from) ? "extf" : "extsi", value, problem::name_of(from),
                       problem::name_of(to));
  return value + "_wide";
}

// Returns the float or integer form of an operation of arith.
std::string arith(std::string_view name, ElementType type) {
  return fmt::format("arith.{}{}", name, problem::is_float(type) ? "f" : "i");
}

// Returns the type in which the operation's products add up.
ElementType sum_type(const NamedOperation& operation) {
  return operation.result == kBF16 && operation.kind != kAttention ? kF32 : operation.result;
}

// Returns the type in which fused operations are computed.
ElementType fused_type(const NamedOperation& operation) {
  return operation.kind == kMatmulBiasGelu ? kF32 : sum_type(operation);
}

// Returns the lines of x / 2 (1 + erf(x / sqrt 2)), in f32.
std::string gelu_lines() {
  return "    %half = arith.constant 0.5 : f32\n"
         "    %one = arith.constant 1.0 : f32\n"
         "    %rsqrt2 = arith.constant 0.70710678118654752 : f32\n"
         "    %scaled = arith.mulf %sum, %rsqrt2 : f32\n"
         "    %erf = math.erf %scaled : f32\n"
         "    %shifted = arith.addf %erf, %one : f32\n"
         "    %gated = arith.mulf %sum, %shifted : f32\n"
         "    %activated = arith.mulf %gated, %half : f32\n";
}

// Returns the lines from %sum to %activated.
std::string activation_lines(const NamedOperation& operation, ElementType type) {
  const std::string_view name = problem::name_of(type);
  if (operation.kind == kMatmulBiasGelu) return gelu_lines();
  if (operation.kind == kMatmulBiasAdd) {
    std::string lines;
    const std::string residual = extended(lines, "%residual_value", operation.result, type);
    return lines +
           fmt::format("    %activated = {} %sum, {} : {}\n", arith("add", type), residual, name);
  }
  return fmt::format(
      "    %nothing = arith.constant {} : {}\n    %activated = arith.{} %sum, %nothing : {}\n",
      zero_of(type), name, problem::is_float(type) ? "maximumf" : "maxsi", name);
}

std::string region_of(const NamedOperation& operation) {
  const ElementType type = fused_type(operation);
  std::string lines;
  std::string value = extended(lines, "%value", sum_type(operation), type);
  if (has_bias(operation.kind)) {
    const std::string bias = extended(lines, "%bias_value", operation.result, type);
    lines += fmt::format("    %sum = {} {}, {} : {}\n", arith("add", type), value, bias,
                         problem::name_of(type));
    lines += activation_lines(operation, type);
    value = "%activated";
  }
  if (type != operation.result) {
    lines += fmt::format("    %rounded = arith.truncf {} : {} to {}\n", value,
                         problem::name_of(type), problem::name_of(operation.result));
    value = "%rounded";
  }
  return lines + fmt::format("    linalg.yield {} : {}", value, problem::name_of(operation.result));
}

// "tensor<128x768xf32>"
std::string tensor_text(const TensorType& type) {
  return fmt::format("tensor<{}>", problem::to_string(type));
}

// Returns the multiply-and-add region of a linalg.generic: operands of the two types, extended to
// the sum's.
std::string multiply_add_region(const NamedOperation& operation) {
  const ElementType sum = sum_type(operation);
  std::string lines =
      fmt::format("  ^bb0(%a: {}, %b: {}, %c: {}):\n", problem::name_of(operation.lhs),
                  problem::name_of(operation.rhs), problem::name_of(sum));
  const std::string a = extended(lines, "%a", operation.lhs, sum);
  const std::string b = extended(lines, "%b", operation.rhs, sum);
  const std::string_view type = problem::name_of(sum);
  lines += fmt::format("    %ab = {} {}, {} : {}\n", arith("mul", sum), a, b, type);
  lines += fmt::format("    %abc = {} %c, %ab : {}\n", arith("add", sum), type);
  return lines + fmt::format("    linalg.yield %abc : {}", type);
}

std::string affine(std::string_view loops, std::string_view indices) {
  return fmt::format("affine_map<({}) -> ({})>", loops, indices);
}

// Returns the type of the sums, before they are rounded.
TensorType sums_of(const NamedOperation& operation) {
  return {sum_type(operation), operation.output().shape};
}

// Returns "ins(%lhs, %rhs : ...) outs(%sums : ...)".
std::string operands_text(std::string_view lhs, const TensorType& lhs_type, std::string_view rhs,
                          const TensorType& rhs_type, std::string_view out,
                          const TensorType& type) {
  return fmt::format("ins({}, {} : {}, {}) outs({} : {})", lhs, rhs, tensor_text(lhs_type),
                     tensor_text(rhs_type), out, tensor_text(type));
}

// Returns the index of the input's row (or column) under one of the filter: "oh * 2 + kh * 1".
std::string walk(std::string_view out, std::int64_t stride, std::string_view filter,
                 std::int64_t dilation) {
  return fmt::format("{} * {} + {} * {}", out, stride, filter, dilation);
}

// Writes a function line by line.
class FunctionWriter {
 public:
  // `configuration`: the alias of the compilation_info; empty: none.
  FunctionWriter(const NamedOperation& operation, std::string configuration)
      : operation_(operation), configuration_(std::move(configuration)) {}

  // Returns the lines of the function's body.
  std::string body() {
    line("return {} : {}", fused_text(root_text()), tensor_text(operation_.output()));
    return std::move(text_);
  }

 private:
  // Defines `value` as a tensor of that type filled with zeros.
  void zeros(std::string_view value, const TensorType& type) {
    const std::string_view element = problem::name_of(type.element);
    const std::string tensor = tensor_text(type);
    line("{}_zero = arith.constant {} : {}", value, zero_of(type.element), element);
    line("{}_empty = tensor.empty() : {}", value, tensor);
    line("{0} = linalg.fill ins({0}_zero : {1}) outs({0}_empty : {2}) -> {2}", value, element,
         tensor);
  }

  // Returns " {compilation_info = #NAME}" for a named root operation, or ", compilation_info =
  // #NAME" for one more attribute. Both are empty without a `configuration`.
  std::string info_dictionary() {
    return configuration_.empty() ? "" : fmt::format(" {{compilation_info = #{}}}", configuration_);
  }

  std::string info_attribute() {
    return configuration_.empty() ? "" : fmt::format(", compilation_info = #{}", configuration_);
  }

  // Writes what follows the loops of a linalg.generic that adds up products into `type`.
  void products_text(std::string_view operands, const TensorType& type) {
    line("    {}{}{} {{", operands, configuration_.empty() ? "" : " attrs =", info_dictionary());
    line("{}", multiply_add_region(operation_).substr(2));
    line("}} -> {}", tensor_text(type));
  }

  // Writes the operations after `sum`, a value of sum_type(): bias, activation, residual, and
  // rounding to the result's type. Returns `sum` itself if there are none.
  std::string fused_text(std::string_view sum) {
    const bool bias = has_bias(operation_.kind);
    if (!bias && sum_type(operation_) == operation_.result) return std::string(sum);
    const TensorType out = operation_.output();
    const std::size_t rank = out.shape.size();
    std::vector<std::string> dims;
    for (std::size_t i = 0; i < rank; ++i) dims.push_back(fmt::format("d{}", i));
    const bool nchw = is_convolution(operation_.kind) && operation_.conv.layout == kNchw;
    const std::string loops = fmt::format("{}", fmt::join(dims, ", "));
    const std::string whole = affine(loops, loops);
    std::string maps = whole, values{sum}, types = tensor_text(sums_of(operation_));
    std::string arguments = fmt::format("%value: {}", problem::name_of(sum_type(operation_)));
    const auto add = [&](const std::string& map, std::string_view value, const TensorType& type) {
      maps += ", " + map;
      values += fmt::format(", %{}", value);
      types += ", " + tensor_text(type);
      arguments += fmt::format(", %{}_value: {}", value, problem::name_of(type.element));
    };
    const auto inputs = operation_.inputs();
    if (bias) add(affine(loops, nchw ? dims[1] : dims.back()), "bias", inputs[2]);
    if (operation_.kind == kMatmulBiasAdd) add(whole, "residual", inputs[3]);
    const std::string result = tensor_text(out);
    line("%fused_empty = tensor.empty() : {}", result);
    line("%fused = linalg.generic {{indexing_maps = [{}, {}],", maps, whole);
    line("    iterator_types = [{}]}}",
         fmt::join(std::vector<std::string>(rank, "\"parallel\""), ", "));
    line("    ins({} : {}) outs(%fused_empty : {}) {{", values, types, result);
    line("^bb0({}, %out: {}):", arguments, problem::name_of(operation_.result));
    line("{}", region_of(operation_).substr(2));
    line("}} -> {}", result);
    return "%fused";
  }

  // Returns the padded input, or %lhs if there is no padding, and sets `type` to its type.
  std::string padded_text(TensorType& type) {
    const ConvDims& c = operation_.conv;
    if (c.padding_height == 0 && c.padding_width == 0) return "%lhs";
    const std::string from = tensor_text(type);
    const std::size_t first = c.layout == kNhwc ? 1 : 2;
    std::vector<std::int64_t> sides(4, 0);
    sides[first] = c.padding_height;
    sides[first + 1] = c.padding_width;
    for (std::size_t i = 0; i < 4; ++i) type.shape[i] += 2 * sides[i];
    line("%border = arith.constant {} : {}", zero_of(type.element), problem::name_of(type.element));
    line("%padded = tensor.pad %lhs low[{0}] high[{0}] {{", fmt::join(sides, ", "));
    line("^bb0(%p0: index, %p1: index, %p2: index, %p3: index):");
    line("  tensor.yield %border : {}", problem::name_of(type.element));
    line("}} : {} to {}", from, tensor_text(type));
    return "%padded";
  }

  // Expands dimension `at` of `value` to groups x the rest. Returns the new value's name, and sets
  // `type` to its type.
  std::string grouped_text(std::string_view value, std::size_t at, std::int64_t groups,
                           TensorType& type) {
    const std::string from = tensor_text(type);
    std::vector<std::string> pieces;
    std::size_t next = 0;
    for (std::size_t i = 0; i < type.shape.size(); ++i) {
      pieces.push_back(i == at ? fmt::format("[{}, {}]", next, next + 1)
                               : fmt::format("[{}]", next));
      next += i == at ? 2 : 1;
    }
    const std::int64_t each = type.shape[at] / groups;
    type.shape[at] = groups;
    type.shape.insert(type.shape.begin() + static_cast<std::ptrdiff_t>(at) + 1, each);
    line("{0}_grouped = tensor.expand_shape {0} [{1}] output_shape [{2}]", value,
         fmt::join(pieces, ", "), fmt::join(type.shape, ", "));
    line("    : {} into {}", from, tensor_text(type));
    return fmt::format("{}_grouped", value);
  }

  std::string grouped_convolution(std::string_view input, TensorType image) {
    const ConvDims& c = operation_.conv;
    const bool nhwc = c.layout == kNhwc;
    TensorType filter = operation_.inputs()[1];
    const std::string x = grouped_text(input, nhwc ? 3 : 1, c.groups, image);
    const std::string w = grouped_text("%rhs", nhwc ? 3 : 0, c.groups, filter);
    TensorType out = sums_of(operation_);
    const std::string result = tensor_text(out);
    const std::size_t channel = nhwc ? 3 : 1;
    out.shape[channel] /= c.groups;
    out.shape.insert(out.shape.begin() + static_cast<std::ptrdiff_t>(channel), c.groups);
    zeros("%sums", out);
    const std::string_view loops =
        nhwc ? "n, oh, ow, g, f, kh, kw, c" : "n, g, f, oh, ow, c, kh, kw";
    const std::string h = walk("oh", c.stride_height, "kh", c.dilation_height);
    const std::string v = walk("ow", c.stride_width, "kw", c.dilation_width);
    const std::string at =
        nhwc ? fmt::format("n, {}, {}, g, c", h, v) : fmt::format("n, g, c, {}, {}", h, v);
    line("%grouped = linalg.generic {{indexing_maps = [{},", affine(loops, at));
    line("    {}, {}],", affine(loops, nhwc ? "kh, kw, c, g, f" : "g, f, c, kh, kw"),
         affine(loops, nhwc ? "n, oh, ow, g, f" : "n, g, f, oh, ow"));
    line(
        "    iterator_types = [\"parallel\", \"parallel\", \"parallel\", \"parallel\", "
        "\"parallel\",");
    line("      \"reduction\", \"reduction\", \"reduction\"]}}");
    products_text(operands_text(x, image, w, filter, "%sums", out), out);
    line("%product = tensor.collapse_shape %grouped [{}] : {} into {}",
         nhwc ? "[0], [1], [2], [3, 4]" : "[0], [1, 2], [3], [4]", tensor_text(out), result);
    return "%product";
  }

  // Writes the root operation, like the next three. Returns the name of the result, of type
  // sum_type().
  std::string matmul_text() {
    const bool batched = operation_.kind == kBatchMatmul;
    const TensorType out = sums_of(operation_);
    zeros("%sums", out);
    std::string maps;
    if (!lhs_rows_ || !rhs_rows_) {
      const std::string lead = batched ? "b, " : "";
      const std::string loops = lead + "m, n, k";
      maps = fmt::format(
          " indexing_maps = [{}, {}, {}]", affine(loops, lead + (lhs_rows_ ? "m, k" : "k, m")),
          affine(loops, lead + (rhs_rows_ ? "k, n" : "n, k")), affine(loops, lead + "m, n"));
    }
    const auto inputs = operation_.inputs();
    line("%product = linalg.{}{}{}", batched ? "batch_matmul" : "matmul", maps, info_dictionary());
    line("    {} -> {}", operands_text("%lhs", inputs[0], "%rhs", inputs[1], "%sums", out),
         tensor_text(out));
    return "%product";
  }

  std::string split_k_text() {
    const auto inputs = operation_.inputs();
    TensorType lhs = inputs[0], rhs = inputs[1];
    const std::string a = grouped_text("%lhs", lhs_rows_ ? 1 : 0, operation_.split_k_slices, lhs);
    const std::string b = grouped_text("%rhs", rhs_rows_ ? 0 : 1, operation_.split_k_slices, rhs);
    const TensorType slices = {sum_type(operation_),
                               {operation_.split_k_slices, operation_.m, operation_.n}};
    zeros("%slices", slices);
    constexpr std::string_view kLoops = "s, m, n, k";
    line("%partial = linalg.generic {{indexing_maps = [{}, {}, {}],",
         affine(kLoops, lhs_rows_ ? "m, s, k" : "s, k, m"),
         affine(kLoops, rhs_rows_ ? "s, k, n" : "n, s, k"), affine(kLoops, "s, m, n"));
    line("    iterator_types = [\"parallel\", \"parallel\", \"parallel\", \"reduction\"]}}");
    products_text(operands_text(a, lhs, b, rhs, "%slices", slices), slices);
    const TensorType out = sums_of(operation_);
    zeros("%sums", out);
    line("%product = linalg.reduce {{ {} }} ins(%partial : {}) outs(%sums : {})",
         arith("add", out.element), tensor_text(slices), tensor_text(out));
    line("    dimensions = [0]");
    return "%product";
  }

  std::string convolution_text() {
    const ConvDims& c = operation_.conv;
    const auto inputs = operation_.inputs();
    TensorType image = inputs[0];
    const std::string input = padded_text(image);
    if (c.groups > 1) return grouped_convolution(input, image);
    const TensorType out = sums_of(operation_);
    zeros("%sums", out);
    line("%product = linalg.conv_2d_{}", c.layout == kNhwc ? "nhwc_hwcf" : "nchw_fchw");
    line(
        "    {{dilations = dense<[{}, {}]> : tensor<2xi64>, strides = dense<[{}, {}]> : "
        "tensor<2xi64>{}}}",
        c.dilation_height, c.dilation_width, c.stride_height, c.stride_width, info_attribute());
    line("    {} -> {}", operands_text(input, image, "%rhs", inputs[1], "%sums", out),
         tensor_text(out));
    return "%product";
  }

  std::string attention_text() {
    const auto inputs = operation_.inputs();
    const TensorType out = operation_.output();
    const std::string_view element = problem::name_of(out.element);
    constexpr std::string_view kLoops =
        "b, m, d, k, n";  // d: of a value's elements, n: of the keys
    line("%scale = arith.constant {:.17e} : {}", 1.0 / std::sqrt(static_cast<double>(operation_.k)),
         element);
    line("%out_empty = tensor.empty() : {}", tensor_text(out));
    line("%product = iree_linalg_ext.attention <{{indexing_maps = [");
    line("    {}, {}, {},", affine(kLoops, "b, m, k"), affine(kLoops, "b, n, k"),
         affine(kLoops, "b, n, d"));
    line("    {}, {}]}}>{}", affine(kLoops, ""), affine(kLoops, "b, m, d"), info_dictionary());
    line("    ins(%query, %key, %value, %scale : {}, {}, {}, {}) outs(%out_empty : {}) {{",
         tensor_text(inputs[0]), tensor_text(inputs[1]), tensor_text(inputs[2]), element,
         tensor_text(out));
    line("^bb0(%score: f32):");
    line("  iree_linalg_ext.yield %score : f32");
    line("}} -> {}", tensor_text(out));
    return "%product";
  }

  std::string root_text() {
    if (operation_.kind == kAttention) return attention_text();
    if (operation_.kind == kSplitKMatmul) return split_k_text();
    if (is_convolution(operation_.kind)) return convolution_text();
    return matmul_text();
  }

  template <class... Arguments>
  void line(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    text_ += "  " + fmt::format(format, std::forward<Arguments>(arguments)...) + "\n";
  }

  const NamedOperation& operation_;
  const bool lhs_rows_ = operation_.lhs_layout == kRowMajor;
  const bool rhs_rows_ = operation_.rhs_layout == kRowMajor;
  std::string configuration_;
  std::string text_;
};

std::string function_text(const NamedOperation& operation, const TileConfiguration& configuration) {
  const auto inputs = operation.inputs();
  const auto names = operation.input_names();
  std::string arguments;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    arguments += fmt::format("{}%{}: {}", i == 0 ? "" : ", ", names[i], tensor_text(inputs[i]));
  FunctionWriter function(operation,
                          configuration.compilation_info.empty() ? "" : configuration.name);
  return fmt::format("func.func @{}_{}(\n    {}) -> {} {{\n{}}}\n", operation.name(),
                     configuration.name, arguments, tensor_text(operation.output()),
                     function.body());
}

}  // namespace

std::string source_text(const NamedOperation& operation,
                        std::span<const TileConfiguration> configurations) {
  std::string text = fmt::format(
      "// {}: a function for each configuration, by hone generate (docs/dispatch-profiler.md)\n",
      operation.name());
  for (const TileConfiguration& configuration : configurations)
    if (!configuration.compilation_info.empty())
      text += fmt::format("\n#{} = {}\n", configuration.name, configuration.compilation_info);
  for (const TileConfiguration& configuration : configurations)
    text += "\n" + function_text(operation, configuration);
  return text;
}

}  // namespace hone::profiler
