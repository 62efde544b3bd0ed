#include <algorithm>
#include <optional>

#include "problem/tensor_text.h"
#include "provider/iree/compiler/runtime_tools.h"

namespace hone::iree {
namespace {

constexpr std::string_view kDeclaration = "iree.abi.declaration: ";

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
    const auto type = problem::tensor_type_from(text.substr(kTensor.size(), end - kTensor.size()));
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

// The number of "!vm.ref<?>, !vm.ref<?>"; nothing where something else is in the list.
std::optional<std::size_t> references_in(std::string_view list) {
  constexpr std::string_view kReference = "!vm.ref<?>";
  std::size_t count = 0;
  for (; !list.empty(); ++count) {
    if (!list.starts_with(kReference)) return std::nullopt;
    list.remove_prefix(kReference.size());
    if (list.starts_with(", ")) list.remove_prefix(2);
  }
  return count;
}

// "  [  1] net(!vm.ref<?>) -> (!vm.ref<?>)".
std::optional<provider::UntypedFunction> exported_function(std::string_view line) {
  constexpr std::string_view kArrow = ") -> (";
  const std::size_t number = line.find("] "), open = line.find('('), arrow = line.find(kArrow);
  if (!line.starts_with("  [") || number == std::string_view::npos ||
      open == std::string_view::npos || arrow == std::string_view::npos || open < number ||
      arrow < open || !line.ends_with(')'))
    return std::nullopt;
  const std::size_t results = arrow + kArrow.size();
  const auto inputs = references_in(line.substr(open + 1, arrow - open - 1));
  const auto outputs = references_in(line.substr(results, line.size() - 1 - results));
  if (!inputs || !outputs) return std::nullopt;
  return provider::UntypedFunction{std::string(line.substr(number + 2, open - number - 2)), *inputs,
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

std::vector<provider::UntypedFunction> untyped_in_dump(std::string_view dump) {
  constexpr std::string_view kExports = "\nExported Functions:\n";
  std::vector<provider::UntypedFunction> functions;
  const std::size_t begin = dump.find(kExports);
  if (begin == std::string_view::npos) return functions;
  dump.remove_prefix(begin + kExports.size());
  bool last_is_one = false;  // which a declaration in the next line takes back
  while (!dump.empty() && !dump.starts_with('\n')) {
    const std::string_view line = dump.substr(0, dump.find('\n'));
    dump.remove_prefix(std::min(dump.size(), line.size() + 1));
    if (line.find(kDeclaration) != std::string_view::npos && last_is_one) functions.pop_back();
    if (!line.starts_with("  [")) {
      last_is_one = last_is_one && line.find(kDeclaration) == std::string_view::npos;
      continue;
    }
    auto function = exported_function(line);
    last_is_one =
        function && !function->name.ends_with("$async") && !function->name.starts_with("__");
    if (last_is_one) functions.push_back(std::move(*function));
  }
  return functions;
}

}  // namespace hone::iree
