#include <charconv>
#include <optional>

#include "provider/iree/runtime_tools.h"

namespace hone::iree {
namespace {

constexpr std::string_view kDeclaration = "iree.abi.declaration: ";

// "4x?xf32" or "f32".
std::optional<problem::TensorType> tensor_from(std::string_view text) {
  problem::TensorType type;
  for (std::size_t cross = text.find('x'); cross != std::string_view::npos;
       cross = text.find('x')) {
    std::int64_t extent = problem::kDynamic;
    if (text[0] != '?') {
      const auto [end, error] = std::from_chars(text.data(), text.data() + cross, extent);
      if (error != std::errc() || end != text.data() + cross) return std::nullopt;
    }
    type.shape.push_back(extent);
    text.remove_prefix(cross + 1);
  }
  const auto element = problem::element_type_from(text);
  if (!element) return std::nullopt;
  type.element = *element;
  return type;
}

// The types of "%input0: tensor<4xf32>, %input1: tensor<f32> {...}"; nothing when one is no tensor.
std::optional<std::vector<problem::TensorType>> types_in(std::string_view text) {
  constexpr std::string_view kTensor = "tensor<";
  std::vector<problem::TensorType> types;
  for (std::size_t name = text.find('%'); name != std::string_view::npos; name = text.find('%')) {
    const std::size_t colon = text.find(": ", name);
    if (colon == std::string_view::npos) return std::nullopt;
    text.remove_prefix(colon + 2);
    const std::size_t end = text.find('>');
    if (text.substr(0, kTensor.size()) != kTensor || end == std::string_view::npos)
      return std::nullopt;
    const auto type = tensor_from(text.substr(kTensor.size(), end - kTensor.size()));
    if (!type) return std::nullopt;
    types.push_back(*type);
    text.remove_prefix(end);
  }
  return types;
}

std::optional<problem::Function> function_from(std::string_view declaration) {
  const std::size_t at = declaration.find('@'), open = declaration.find('(');
  const std::size_t arrow = declaration.find(") -> (");
  if (at == std::string_view::npos || open == std::string_view::npos ||
      arrow == std::string_view::npos || open < at || arrow < open)
    return std::nullopt;
  const auto inputs = types_in(declaration.substr(open + 1, arrow - open - 1));
  const auto outputs = types_in(declaration.substr(arrow));
  if (!inputs || !outputs) return std::nullopt;
  return problem::Function{std::string(declaration.substr(at + 1, open - at - 1)), *inputs,
                           *outputs};
}

}  // namespace

std::vector<problem::Function> functions_in_dump(std::string_view dump) {
  std::vector<problem::Function> functions;
  for (std::size_t at = dump.find(kDeclaration); at != std::string_view::npos;
       at = dump.find(kDeclaration)) {
    dump.remove_prefix(at + kDeclaration.size());
    if (auto function = function_from(dump.substr(0, dump.find('\n'))))
      functions.push_back(std::move(*function));
  }
  return functions;
}

}  // namespace hone::iree
