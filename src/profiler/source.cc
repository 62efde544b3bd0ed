#include "profiler/source.h"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/operation.h"

namespace hone::profiler {
namespace {

using problem::ElementType;
using problem::TensorType;

// Body of a function, built line by line.
class FunctionBody {
 public:
  template <class... Arguments>
  void line(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    text_ += "  " + fmt::format(format, std::forward<Arguments>(arguments)...) + "\n";
  }
  // Defines `value` as a tensor of that type filled with zeros.
  void zeros(std::string_view value, const TensorType& type);
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

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

void FunctionBody::zeros(std::string_view value, const TensorType& type) {
  const std::string_view element = problem::name_of(type.element);
  const std::string tensor = tensor_text(type);
  line("{}_zero = arith.constant {} : {}", value, zero_of(type.element), element);
  line("{}_empty = tensor.empty() : {}", value, tensor);
  line("{0} = linalg.fill ins({0}_zero : {1}) outs({0}_empty : {2}) -> {2}", value, element,
       tensor);
}

// Returns " {compilation_info = #NAME}" for a named root operation, or ", compilation_info = #NAME"
// for one more attribute. Both are empty without a `configuration`.
std::string info_dictionary(std::string_view configuration) {
  return configuration.empty() ? "" : fmt::format(" {{compilation_info = #{}}}", configuration);
}

std::string info_attribute(std::string_view configuration) {
  return configuration.empty() ? "" : fmt::format(", compilation_info = #{}", configuration);
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

// Writes the operations after `sum`, a value of sum_type(): bias, activation, residual, and
// rounding to the result's type. Returns `sum` itself if there are none.
std::string fused_text(const NamedOperation& operation, std::string_view sum, FunctionBody& body) {
  const bool bias = has_bias(operation.kind);
  if (!bias && sum_type(operation) == operation.result) return std::string(sum);
  const TensorType out = operation.output();
  const std::size_t rank = out.shape.size();
  std::vector<std::string> dims;
  for (std::size_t i = 0; i < rank; ++i) dims.push_back(fmt::format("d{}", i));
  const bool nchw = is_convolution(operation.kind) && operation.conv.layout == kNchw;
  const std::string whole = fmt::format("affine_map<({0}) -> ({0})>", fmt::join(dims, ", "));
  const std::string along =
      fmt::format("affine_map<({}) -> ({})>", fmt::join(dims, ", "), nchw ? dims[1] : dims.back());
  const std::string sums = tensor_text({sum_type(operation), out.shape});
  std::string maps = whole, values{sum}, types = sums;
  std::string arguments = fmt::format("%value: {}", problem::name_of(sum_type(operation)));
  const auto add = [&](const std::string& map, std::string_view value, const TensorType& type) {
    maps += ", " + map;
    values += fmt::format(", %{}", value);
    types += ", " + tensor_text(type);
    arguments += fmt::format(", %{}_value: {}", value, problem::name_of(type.element));
  };
  const auto inputs = operation.inputs();
  if (bias) add(along, "bias", inputs[2]);
  if (operation.kind == kMatmulBiasAdd) add(whole, "residual", inputs[3]);
  const std::string result = tensor_text(out);
  body.line("%fused_empty = tensor.empty() : {}", result);
  body.line("%fused = linalg.generic {{indexing_maps = [{}, {}],", maps, whole);
  body.line("    iterator_types = [{}]}}",
            fmt::join(std::vector<std::string>(rank, "\"parallel\""), ", "));
  body.line("    ins({} : {}) outs(%fused_empty : {}) {{", values, types, result);
  body.line("^bb0({}, %out: {}):", arguments, problem::name_of(operation.result));
  body.line("{}", region_of(operation).substr(2));
  body.line("}} -> {}", result);
  return "%fused";
}

bool is_row_major(Layout layout) {
  return layout == kRowMajor;
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

std::string generic_attributes(std::string_view configuration) {
  return configuration.empty() ? "" : " attrs =" + info_dictionary(configuration);
}

// Returns the padded input, or %lhs if there is no padding, and sets `type` to its type.
std::string padded_text(const NamedOperation& operation, TensorType& type, FunctionBody& body) {
  const ConvDims& c = operation.conv;
  if (c.padding_height == 0 && c.padding_width == 0) return "%lhs";
  const std::string from = tensor_text(type);
  const std::size_t first = c.layout == kNhwc ? 1 : 2;
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

std::string grouped_convolution(const NamedOperation& operation, std::string_view configuration,
                                std::string_view input, TensorType image, FunctionBody& body) {
  const ConvDims& c = operation.conv;
  const bool nhwc = c.layout == kNhwc;
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

// Writes the root operation into `body`, like the next three. Returns the name of the result, of
// type sum_type(). `configuration`: the alias of the compilation_info; empty: none.
std::string matmul_text(const NamedOperation& operation, std::string_view configuration,
                        FunctionBody& body) {
  const bool batched = operation.kind == kBatchMatmul;
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

std::string split_k_text(const NamedOperation& operation, std::string_view configuration,
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

std::string convolution_text(const NamedOperation& operation, std::string_view configuration,
                             FunctionBody& body) {
  const ConvDims& c = operation.conv;
  const auto inputs = operation.inputs();
  TensorType image = inputs[0];
  const std::string input = padded_text(operation, image, body);
  if (c.groups > 1) return grouped_convolution(operation, configuration, input, image, body);
  const TensorType out = sums_of(operation);
  body.zeros("%sums", out);
  body.line("%product = linalg.conv_2d_{}", c.layout == kNhwc ? "nhwc_hwcf" : "nchw_fchw");
  body.line(
      "    {{dilations = dense<[{}, {}]> : tensor<2xi64>, strides = dense<[{}, {}]> : "
      "tensor<2xi64>{}}}",
      c.dilation_height, c.dilation_width, c.stride_height, c.stride_width,
      info_attribute(configuration));
  body.line("    {} -> {}", operands_text(input, image, "%rhs", inputs[1], "%sums", out),
            tensor_text(out));
  return "%product";
}

std::string attention_text(const NamedOperation& operation, std::string_view configuration,
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

std::string root_text(const NamedOperation& operation, std::string_view configuration,
                      FunctionBody& body) {
  if (operation.kind == kAttention) return attention_text(operation, configuration, body);
  if (operation.kind == kSplitKMatmul) return split_k_text(operation, configuration, body);
  if (is_convolution(operation.kind)) return convolution_text(operation, configuration, body);
  return matmul_text(operation, configuration, body);
}

std::string function_text(const NamedOperation& operation, const TileConfiguration& configuration) {
  const auto inputs = operation.inputs();
  const auto names = operation.input_names();
  std::string arguments;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    arguments += fmt::format("{}%{}: {}", i == 0 ? "" : ", ", names[i], tensor_text(inputs[i]));
  const std::string result = tensor_text(operation.output());
  FunctionBody body;
  const std::string sum =
      root_text(operation, configuration.compilation_info.empty() ? "" : configuration.name, body);
  const std::string value = fused_text(operation, sum, body);
  body.line("return {} : {}", value, result);
  return fmt::format("func.func @{}_{}(\n    {}) -> {} {{\n{}}}\n", operation.name(),
                     configuration.name, arguments, result, body.text());
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
