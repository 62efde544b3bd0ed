#include "profiler/function_text.h"

namespace hone::profiler {

using problem::ElementType;
using problem::TensorType;

namespace {

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

// Returns the type in which fused operations are computed.
ElementType fused_type(const Operation& operation) {
  return operation.kind == OperationKind::kMatmulBiasGelu ? ElementType::kF32 : sum_type(operation);
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
std::string activation_lines(const Operation& operation, ElementType type) {
  const std::string_view name = problem::name_of(type);
  if (operation.kind == OperationKind::kMatmulBiasGelu) return gelu_lines();
  if (operation.kind == OperationKind::kMatmulBiasAdd) {
    std::string lines;
    const std::string residual = extended(lines, "%residual_value", operation.result, type);
    return lines +
           fmt::format("    %activated = {} %sum, {} : {}\n", arith("add", type), residual, name);
  }
  return fmt::format(
      "    %nothing = arith.constant {} : {}\n    %activated = arith.{} %sum, %nothing : {}\n",
      zero_of(type), name, problem::is_float(type) ? "maximumf" : "maxsi", name);
}

std::string region_of(const Operation& operation) {
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

}  // namespace

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

ElementType sum_type(const Operation& operation) {
  return operation.result == ElementType::kBF16 && operation.kind != OperationKind::kAttention
             ? ElementType::kF32
             : operation.result;
}

std::string info_dictionary(std::string_view configuration) {
  return configuration.empty() ? "" : fmt::format(" {{compilation_info = #{}}}", configuration);
}

std::string info_attribute(std::string_view configuration) {
  return configuration.empty() ? "" : fmt::format(", compilation_info = #{}", configuration);
}

std::string multiply_add_region(const Operation& operation) {
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

std::string fused_text(const Operation& operation, std::string_view sum, FunctionBody& body) {
  const bool bias = has_bias(operation.kind);
  if (!bias && sum_type(operation) == operation.result) return std::string(sum);
  const TensorType out = operation.output();
  const std::size_t rank = out.shape.size();
  std::vector<std::string> dims;
  for (std::size_t i = 0; i < rank; ++i) dims.push_back(fmt::format("d{}", i));
  const bool nchw = is_convolution(operation.kind) && operation.conv.layout == ConvLayout::kNchw;
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
  if (operation.kind == OperationKind::kMatmulBiasAdd) add(whole, "residual", inputs[3]);
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

}  // namespace hone::profiler
