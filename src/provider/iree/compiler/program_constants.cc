#include "provider/iree/compiler/program_constants.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "problem/types.h"

namespace hone::iree {
namespace {

constexpr std::string_view kElided = "dense_resource<__elided__> : tensor<";

// "4x8xsi64" of PyTorch's dialect has a sign.
std::optional<problem::TensorType> signless(std::string type) {
  for (const char* sign : {"si", "ui"})
    if (const auto at = type.rfind(sign); at != std::string::npos) type.erase(at, 1);
  return problem::tensor_type_from(type);
}

void add_hex(std::string& text, std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  text.reserve(text.size() + 2 * bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
}

// As MLIR has it: the alignment in four bytes, then the content.
void add_entry(std::string& text, const std::string& name, std::string_view content) {
  text += fmt::format("      {}: \"0x40000000", name);
  add_hex(text, content);
  text += "\"";
}

// A program may have a section of resources already, of this dialect or of others.
void add_section(std::string& program, const std::string& entries) {
  const auto section = program.rfind("{-#");
  constexpr std::string_view kResources = "dialect_resources: {", kBuiltin = "builtin: {";
  const auto resources = section == std::string::npos ? section : program.find(kResources, section);
  if (resources == std::string::npos) {
    program += "\n{-#\n  dialect_resources: {\n    builtin: {\n" + entries + "\n    }\n  }\n#-}\n";
    return;
  }
  const auto builtin = program.find(kBuiltin, resources);
  if (builtin == std::string::npos)
    program.insert(resources + kResources.size(), "\n    builtin: {\n" + entries + "\n    },");
  else
    program.insert(builtin + kBuiltin.size(), "\n" + entries + ",");
}

}  // namespace

bool has_elided_constants(std::string_view program) {
  return program.find(kElided) != std::string_view::npos;
}

FilledProgram with_contents(
    std::string_view program,
    const std::function<std::string(const problem::TensorType&)>& contents) {
  FilledProgram filled;
  std::map<std::string, std::string> names;  // by type
  std::string entries;
  for (auto at = program.find(kElided); at != std::string_view::npos; at = program.find(kElided)) {
    filled.text += program.substr(0, at);
    program.remove_prefix(at + kElided.size());
    const std::string written(program.substr(0, program.find_first_of(",>")));
    const auto type = signless(written);
    if (!type || problem::is_dynamic(*type)) {
      filled.text += kElided;
      continue;
    }
    auto [name, is_new] = names.emplace(written, fmt::format("hone_left_out_{}", names.size()));
    if (is_new) {
      if (!entries.empty()) entries += ",\n";
      add_entry(entries, name->second, contents(*type));
    }
    filled.text += fmt::format("dense_resource<{}> : tensor<", name->second);
    ++filled.constants;
  }
  filled.text += program;
  if (filled.constants > 0) add_section(filled.text, entries);
  return filled;
}

namespace {

constexpr std::int64_t kFewestElements = 64;

// Parts of operations' names, in all dialects that IREE imports. The names of conversions have
// "conv" too.
constexpr std::array<std::string_view, 8> kProductNames{"dot_general", ".dot", "matmul",  "matvec",
                                                        "vecmat",      ".mm",  ".linear", ".bmm"};
constexpr std::array<std::string_view, 8> kMoveNames{"transpose", "reshape", "broadcast", "convert",
                                                     "collapse",  "expand",  "permute",   "cast"};

struct Constant {
  std::size_t line = 0;
  std::string type = {};  // "tensor<4x8xf32>"
  bool is_real = false;
  bool feeds_product = false;
};

bool holds_any(std::string_view text, const auto& words) {
  return std::ranges::any_of(
      words, [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

bool is_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '.' ||
         c == '-';
}

std::vector<std::string_view> values_in(std::string_view text) {
  std::vector<std::string_view> values;
  for (auto at = text.find('%'); at != std::string_view::npos; at = text.find('%', at)) {
    std::size_t end = at + 1;
    while (end < text.size() && is_name(text[end])) ++end;
    values.push_back(text.substr(at, end - at));
    at = end;
  }
  return values;
}

struct Line {
  std::string_view result, operation, rest;  // "%w", "stablehlo.constant", what is behind it
};

// "  %w = stablehlo.constant dense<...> ..."; nothing for a line without one result.
std::optional<Line> read_line(std::string_view text) {
  const auto begin = text.find_first_not_of(' ');
  const auto equals = text.find(" = ");
  if (begin == std::string_view::npos || text[begin] != '%' || equals == std::string_view::npos)
    return std::nullopt;
  Line line{text.substr(begin, equals - begin), {}, text.substr(equals + 3)};
  const bool is_quoted = line.rest.starts_with('"');
  if (is_quoted) line.rest.remove_prefix(1);
  const auto end = line.rest.find_first_of(is_quoted ? "\"" : " (");
  line.operation = line.rest.substr(0, end);
  line.rest.remove_prefix(std::min(line.rest.size(), line.operation.size()));
  return line;
}

// A constant of one number: "dense<1.0> : tensor<4x8xf32>".
std::optional<Constant> constant_in(const Line& line, std::size_t number) {
  constexpr std::string_view kDense = "dense<", kOfTensor = "> : tensor<";
  const bool is_constant = line.operation.ends_with("constant") ||
                           line.operation.ends_with("const") ||
                           line.operation == "torch.vtensor.literal";
  // An unfoldable constant of util is opaque already.
  if (!is_constant || line.operation.starts_with("util.")) return std::nullopt;
  const auto dense = line.rest.find(kDense);
  if (dense == std::string_view::npos) return std::nullopt;
  std::string_view text = line.rest.substr(dense + kDense.size());
  const auto end = text.find(kOfTensor);
  // A list of numbers, or the bytes of many, is no single one.
  if (end == std::string_view::npos ||
      text.substr(0, end).find_first_of("[>\"") != std::string_view::npos)
    return std::nullopt;
  text.remove_prefix(end + kOfTensor.size());
  const std::string_view shape = text.substr(0, text.find('>'));
  const auto type = problem::tensor_type_from(shape);
  if (!type || problem::is_dynamic(*type) || problem::element_count(*type) < kFewestElements)
    return std::nullopt;
  return Constant{number, fmt::format("tensor<{}>", shape), problem::is_float(type->element)};
}

// Constants that the values of one function depend on, by result.
class Uses {
 public:
  void read(std::string_view text, std::size_t number) {
    if (text.find("func.func") != std::string_view::npos ||
        text.find("util.func") != std::string_view::npos)
      of_.clear();
    const std::optional<Line> line = read_line(text);
    if (!line) return;
    of_.erase(std::string(line->result));
    if (auto constant = constant_in(*line, number)) {
      of_[std::string(line->result)] = {constants_.size()};
      constants_.push_back(std::move(*constant));
      return;
    }
    // A start value is no operand of the product.
    const std::string_view operands = line->rest.substr(0, line->rest.find("outs("));
    const bool is_convolution = line->operation.find("conv") != std::string_view::npos &&
                                line->operation.find("convert") == std::string_view::npos;
    const bool is_product = is_convolution || holds_any(line->operation, kProductNames) ||
                            (line->operation == "linalg.generic" &&
                             line->rest.find("\"reduction\"") != std::string_view::npos);
    const bool moves = holds_any(line->operation, kMoveNames);
    if (!is_product && !moves) return;
    std::set<std::size_t> about;
    for (const std::string_view value : values_in(operands))
      if (const auto found = of_.find(std::string(value)); found != of_.end())
        about.insert(found->second.begin(), found->second.end());
    for (const std::size_t constant : about)
      constants_[constant].feeds_product = constants_[constant].feeds_product || is_product;
    if (moves && !about.empty()) of_[std::string(line->result)] = std::move(about);
  }

  const std::vector<Constant>& constants() const { return constants_; }

 private:
  std::vector<Constant> constants_;
  std::map<std::string, std::set<std::size_t>> of_;
};

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const auto end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

// The operation that reads parameter number `weight` in the place of the constant.
std::string load_of(std::string_view text, const std::string& type, std::size_t weight) {
  const std::string_view result = read_line(text)->result;
  const std::string load = fmt::format("util.global.load @hone_weight{} : {}", weight, type);
  const auto torch = text.rfind("!torch.vtensor<");
  if (torch == std::string_view::npos) return fmt::format("    {} = {}", result, load);
  std::string_view of_torch = text.substr(torch);
  of_torch = of_torch.substr(0, of_torch.rfind('>') + 1);
  return fmt::format(
      "    %hone_weight{0} = {1}\n    {2} = torch_c.from_builtin_tensor %hone_weight{0} : {3} -> "
      "{4}",
      weight, load, result, type, of_torch);
}

}  // namespace

OpaqueProgram with_opaque_weights(std::string_view program) {
  OpaqueProgram made;
  const std::vector<std::string_view> lines = lines_of(program);
  Uses uses;
  if (!program.starts_with("ML\xefR"))
    for (std::size_t i = 0; i < lines.size(); ++i) uses.read(lines[i], i);
  std::map<std::size_t, const Constant*> opaque;  // by line
  std::string globals;
  for (const Constant& constant : uses.constants()) {
    if (!constant.feeds_product) continue;
    if (!constant.is_real) {
      ++made.folded;
      continue;
    }
    globals += fmt::format(
        "util.global private @hone_weight{0} = #flow.parameter.named<\"{1}\"::\"weight{0}\"> : "
        "{2}\n",
        opaque.size(), kWeightScope, constant.type);
    opaque.emplace(constant.line, &constant);
  }
  made.weights = opaque.size();
  if (opaque.empty()) {
    made.text = program;
    return made;
  }
  // Inside the module where one is written, which has the functions.
  const auto module = std::ranges::find_if(lines, [](std::string_view line) {
    return line.starts_with("module") && line.ends_with('{');
  });
  if (module == lines.end()) made.text = globals;
  std::size_t weight = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto constant = opaque.find(i);
    made.text += constant == opaque.end() ? std::string(lines[i])
                                          : load_of(lines[i], constant->second->type, weight++);
    made.text += '\n';
    if (module != lines.end() && i == static_cast<std::size_t>(module - lines.begin()))
      made.text += globals;
  }
  return made;
}

}  // namespace hone::iree
