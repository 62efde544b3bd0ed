#include "profiler/source.h"

#include "profiler/function_text.h"

namespace hone::profiler {
namespace {

std::string root_text(const Operation& operation, std::string_view configuration,
                      FunctionBody& body) {
  if (operation.kind == OperationKind::kAttention)
    return attention_text(operation, configuration, body);
  if (operation.kind == OperationKind::kSplitKMatmul)
    return split_k_text(operation, configuration, body);
  if (is_convolution(operation.kind)) return convolution_text(operation, configuration, body);
  return matmul_text(operation, configuration, body);
}

std::string function_text(const Operation& operation, const Configuration& configuration) {
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

std::string source_text(const Operation& operation, std::span<const Configuration> configurations) {
  std::string text = fmt::format(
      "// {}: a function for each configuration, by hone generate (docs/dispatch-profiler.md)\n",
      operation.name());
  for (const Configuration& configuration : configurations)
    if (!configuration.compilation_info.empty())
      text += fmt::format("\n#{} = {}\n", configuration.name, configuration.compilation_info);
  for (const Configuration& configuration : configurations)
    text += "\n" + function_text(operation, configuration);
  return text;
}

}  // namespace hone::profiler
