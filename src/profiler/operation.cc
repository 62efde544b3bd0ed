#include "profiler/operation.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "base/text.h"

namespace hone::profiler {
namespace {

using problem::ElementType;

struct KindRow {
  NamedOperationKind kind;
  std::string_view name;
  std::string_view screen_name;
};

constexpr KindRow kKinds[] = {
    {kMatmul, "matmul", "OperationKind.Matmul"},
    {kSplitKMatmul, "matmul_splitk", "OperationKind.SplitkMatmul"},
    {kBatchMatmul, "batch_matmul", "OperationKind.BatchMatmul"},
    {kConv2d, "conv2d", "OperationKind.Conv2d"},
    {kMatmulBiasRelu, "matmul_bias_relu", "OperationKind.MatmulBiasRelu"},
    {kMatmulBiasGelu, "matmul_bias_gelu", "OperationKind.MatmulBiasGelu"},
    {kMatmulBiasAdd, "matmul_bias_add", "OperationKind.MatmulBiasAdd"},
    {kConv2dBiasRelu, "conv2d_bias_relu", "OperationKind.Conv2dBiasRelu"},
    {kAttention, "attention", "OperationKind.Attention"},
};

const KindRow& row_of(NamedOperationKind kind) {
  return *std::ranges::find(kKinds, kind, &KindRow::kind);
}

constexpr std::pair<ElementType, std::string_view> kTypeNames[] = {
    {kF16, "f16"}, {kBF16, "bf16"}, {kF32, "f32"}, {kI8, "s8"}, {kI32, "s32"},
};

constexpr Types kGeneratedTypes[] = {
    {kF16, kF16, kF16},    {kF32, kF32, kF32},   {kF16, kF16, kF32},
    {kBF16, kBF16, kBF16}, {kBF16, kBF16, kF32}, {kI8, kI8, kI32},
};

std::int64_t output_extent(std::int64_t input, std::int64_t padding, std::int64_t filter,
                           std::int64_t dilation, std::int64_t stride) {
  return (input + 2 * padding - dilation * (filter - 1) - 1) / stride + 1;
}

std::string tensor_name(ElementType type, Layout layout) {
  return type_name(type) + (layout == kRowMajor ? "t" : "n");
}

// Returns lhs, rhs and result with their layouts: "f16t", "f16hwcf".
std::array<std::string, 3> tensor_names(const NamedOperation& operation) {
  if (is_convolution(operation.kind)) {
    const bool nhwc = operation.conv.layout == kNhwc;
    const std::string image = nhwc ? "nhwc" : "nchw";
    return {type_name(operation.lhs) + image, type_name(operation.rhs) + (nhwc ? "hwcf" : "fchw"),
            type_name(operation.result) + image};
  }
  return {tensor_name(operation.lhs, operation.lhs_layout),
          tensor_name(operation.rhs, operation.rhs_layout),
          tensor_name(operation.result, kRowMajor)};
}

std::string dims_name(const NamedOperation& operation) {
  const ConvDims& c = operation.conv;
  if (is_convolution(operation.kind))
    return fmt::format("{}x{}x{}x{}_{}x{}x{}_s{}x{}_d{}x{}_p{}x{}_g{}", c.images, c.height, c.width,
                       c.channels, c.filters, c.filter_height, c.filter_width, c.stride_height,
                       c.stride_width, c.dilation_height, c.dilation_width, c.padding_height,
                       c.padding_width, c.groups);
  const std::string mnk = fmt::format("{}x{}x{}", operation.m, operation.n, operation.k);
  return is_batched(operation.kind) ? fmt::format("{}x{}", operation.batch, mnk) : mnk;
}

std::vector<std::int64_t> matrix(std::int64_t rows, std::int64_t columns, Layout layout,
                                 const NamedOperation& operation) {
  std::vector<std::int64_t> shape = {rows, columns};
  if (layout == kColumnMajor) std::swap(shape[0], shape[1]);
  if (operation.kind == kBatchMatmul) shape.insert(shape.begin(), operation.batch);
  return shape;
}

std::vector<std::int64_t> image_shape(const ConvDims& conv, std::int64_t height, std::int64_t width,
                                      std::int64_t channels) {
  if (conv.layout == kNhwc) return {conv.images, height, width, channels};
  return {conv.images, channels, height, width};
}

std::vector<problem::TensorType> attention_inputs(const NamedOperation& operation) {
  const std::int64_t b = operation.batch;
  return {{operation.lhs, {b, operation.m, operation.k}},
          {operation.rhs, {b, operation.n, operation.k}},
          {operation.rhs, {b, operation.n, operation.k}}};
}

std::vector<problem::TensorType> conv_inputs(const NamedOperation& operation) {
  const ConvDims& c = operation.conv;
  const std::int64_t depth = c.channels / c.groups;
  std::vector<std::int64_t> filter = {c.filter_height, c.filter_width, depth, c.filters};
  if (c.layout == kNchw) filter = {c.filters, depth, c.filter_height, c.filter_width};
  return {{operation.lhs, image_shape(c, c.height, c.width, c.channels)}, {operation.rhs, filter}};
}

}  // namespace

std::string_view name_of(NamedOperationKind kind) {
  return row_of(kind).name;
}

std::string_view screen_name_of(NamedOperationKind kind) {
  return row_of(kind).screen_name;
}

Result<NamedOperationKind> operation_kind_from(std::string_view name) {
  std::vector<std::string> names;
  for (const KindRow& row : kKinds) {
    if (row.name == name) return row.kind;
    names.emplace_back(row.name);
  }
  return input_error("'{}' is no kind of operation{}; there are: {}", name,
                     did_you_mean(name, names), fmt::join(names, ", "));
}

bool is_convolution(NamedOperationKind kind) {
  return kind == kConv2d || kind == kConv2dBiasRelu;
}

bool is_batched(NamedOperationKind kind) {
  return kind == kBatchMatmul || kind == kAttention;
}

bool has_bias(NamedOperationKind kind) {
  return kind == kMatmulBiasRelu || kind == kMatmulBiasGelu || kind == kMatmulBiasAdd ||
         kind == kConv2dBiasRelu;
}

std::int64_t ConvDims::output_height() const {
  return output_extent(height, padding_height, filter_height, dilation_height, stride_height);
}

std::int64_t ConvDims::output_width() const {
  return output_extent(width, padding_width, filter_width, dilation_width, stride_width);
}

std::string NamedOperation::name() const {
  std::string text =
      fmt::format("{}_{}_{}", name_of(kind), dims_name(*this), fmt::join(tensor_names(*this), "_"));
  if (kind == kSplitKMatmul) text += fmt::format("_parallel{}", split_k_slices);
  return text;
}

NamedOperation::Product NamedOperation::product() const {
  if (!is_convolution(kind)) return {batch, m, n, k};
  return {conv.groups, conv.images * conv.output_height() * conv.output_width(),
          conv.filters / conv.groups,
          conv.filter_height * conv.filter_width * (conv.channels / conv.groups)};
}

std::vector<problem::TensorType> NamedOperation::inputs() const {
  if (kind == kAttention) return attention_inputs(*this);
  std::vector<problem::TensorType> types;
  if (is_convolution(kind))
    types = conv_inputs(*this);
  else
    types = {{lhs, matrix(m, k, lhs_layout, *this)}, {rhs, matrix(k, n, rhs_layout, *this)}};
  if (has_bias(kind)) types.push_back({result, {is_convolution(kind) ? conv.filters : n}});
  if (kind == kMatmulBiasAdd) types.push_back(output());
  return types;
}

problem::TensorType NamedOperation::output() const {
  if (is_convolution(kind))
    return {result, image_shape(conv, conv.output_height(), conv.output_width(), conv.filters)};
  if (kind == kAttention) return {result, {batch, m, k}};
  return {result, matrix(m, n, kRowMajor, *this)};
}

std::vector<std::string_view> NamedOperation::input_names() const {
  if (kind == kAttention) return {"query", "key", "value"};
  std::vector<std::string_view> names = {"lhs", "rhs"};
  if (has_bias(kind)) names.push_back("bias");
  if (kind == kMatmulBiasAdd) names.push_back("residual");
  return names;
}

std::int64_t NamedOperation::bytes() const {
  const problem::TensorType written = output();
  std::int64_t sum = problem::element_count(written) * problem::byte_size(written.element);
  for (const problem::TensorType& type : inputs())
    sum += problem::element_count(type) * problem::byte_size(type.element);
  return sum;
}

std::int64_t NamedOperation::flops() const {
  const Product p = product();
  return (kind == kAttention ? 4 : 2) * p.batch * p.m * p.n * p.k;
}

std::string type_name(ElementType type) {
  const std::string_view name = name_in(kTypeNames, type);
  return std::string(name.empty() ? problem::name_of(type) : name);
}

Result<ElementType> type_from(std::string_view name) {
  for (const auto& [type, text] : kTypeNames)
    if (name == text || name == problem::name_of(type)) return type;
  return input_error("'{}' is no element type; there are: f16, bf16, f32, s8, s32", name);
}

std::span<const Types> generated_types() {
  return kGeneratedTypes;
}

std::vector<std::pair<std::string, std::string>> arguments_of(const NamedOperation& operation) {
  const NamedOperation::Product p = operation.product();
  const auto tensors = tensor_names(operation);
  const bool split = operation.kind == kSplitKMatmul;
  return {{"batch_count", std::to_string(p.batch)},
          {"m", std::to_string(p.m)},
          {"n", std::to_string(p.n)},
          {"k", std::to_string(p.k)},
          {"lhs", tensors[0]},
          {"rhs", tensors[1]},
          {"result", tensors[2]},
          {"split_k_mode", split ? "parallel" : "N/A"},
          {"split_k_slices", split ? std::to_string(operation.split_k_slices) : "N/A"}};
}

std::vector<std::pair<std::string, std::string>> further_arguments_of(
    const NamedOperation& operation) {
  const ConvDims& c = operation.conv;
  const bool conv = is_convolution(operation.kind);
  const auto text = [conv](std::string value) { return conv ? std::move(value) : "N/A"; };
  return {
      {"conv_input", text(fmt::format("{}x{}x{}x{}", c.images, c.height, c.width, c.channels))},
      {"conv_filter", text(fmt::format("{}x{}x{}", c.filters, c.filter_height, c.filter_width))},
      {"conv_stride", text(fmt::format("{}x{}", c.stride_height, c.stride_width))},
      {"conv_dilation", text(fmt::format("{}x{}", c.dilation_height, c.dilation_width))},
      {"conv_padding", text(fmt::format("{}x{}", c.padding_height, c.padding_width))},
      {"conv_groups", text(std::to_string(c.groups))}};
}

std::vector<std::string> argument_lines(const NamedOperation& operation) {
  constexpr std::size_t kInFirstLine = 7;  // as the old tool broke it
  std::vector<std::string> lines(2);
  const auto add = [](std::string& line, const std::pair<std::string, std::string>& argument) {
    line += fmt::format("{}--{}={}", line.empty() ? "" : " ", argument.first, argument.second);
  };
  const auto arguments = arguments_of(operation);
  for (std::size_t i = 0; i < arguments.size(); ++i)
    add(lines[i < kInFirstLine ? 0 : 1], arguments[i]);
  if (!is_convolution(operation.kind)) return lines;
  lines.emplace_back();
  for (const auto& argument : further_arguments_of(operation)) add(lines.back(), argument);
  return lines;
}

}  // namespace hone::profiler
