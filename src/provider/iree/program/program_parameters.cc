#include "provider/iree/program/program_parameters.h"

#include <algorithm>
#include <optional>
#include <set>

#include "provider/iree/compiler/ir.h"

namespace hone::iree {
namespace {

// Takes a quoted string off the front; a quote and a backslash inside are written behind another.
std::optional<std::string> take_string(std::string_view& text) {
  if (!text.starts_with('"')) return std::nullopt;
  std::string content;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') {
      text.remove_prefix(i + 1);
      return content;
    }
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    content += text[i];
  }
  return std::nullopt;
}

// Parses the text after "parameter.named<".
std::optional<ProgramParameter> parameter_from(std::string_view text) {
  ProgramParameter parameter;
  const auto first = take_string(text);
  if (!first) return std::nullopt;
  parameter.key = *first;
  if (text.starts_with("::")) {
    text.remove_prefix(2);
    const auto second = take_string(text);
    if (!second) return std::nullopt;
    parameter.scope = *first;
    parameter.key = *second;
  }
  constexpr std::string_view kType = "> : tensor<";
  const auto type_at = text.find(kType);
  if (type_at == std::string_view::npos || type_at > text.find('\n')) return std::nullopt;
  text.remove_prefix(type_at + kType.size());
  const auto type = parse_type(text.substr(0, text.find_first_of(",>")));
  if (!type) return std::nullopt;
  parameter.type = *type;
  return parameter;
}

}  // namespace

std::vector<ProgramParameter> parameters_in(std::string_view program) {
  constexpr std::string_view kNamed = "parameter.named<";
  std::vector<ProgramParameter> parameters;
  std::set<std::pair<std::string, std::string>> known;
  for (std::size_t at = program.find(kNamed); at != std::string_view::npos;
       at = program.find(kNamed)) {
    program.remove_prefix(at + kNamed.size());
    // A type ends soon: looking for it must not go through all that follows.
    auto parameter = parameter_from(program.substr(0, 4096));
    if (parameter && known.emplace(parameter->scope, parameter->key).second)
      parameters.push_back(std::move(*parameter));
  }
  return parameters;
}

}  // namespace hone::iree
