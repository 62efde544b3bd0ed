#include "provider/iree/spec_upgrade/program.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "provider/iree/spec_upgrade/benchmark.h"
#include "provider/iree/spec_upgrade/matched_loops.h"

namespace hone::iree {
namespace {

using Kind = MlirToken::Kind;

// An element type by what a cast has to know of it.
struct Element {
  bool is_float = false;
  int bits = 0;  // 0: a type that no cast is known for
};

Element element_of(std::string_view type) {
  const bool is_float = type.starts_with('f') || type.starts_with("bf");
  const std::string_view digits =
      type.substr(std::min(type.size(), type.find_first_of("0123456789")));
  Element element{is_float, 0};
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), element.bits);
  if (error != std::errc() || end != digits.data() + digits.size() ||
      !(is_float || type.starts_with('i')))
    return {};
  return element;
}

// The operation by which linalg.fill cast its value to the elements' type; "" for none.
const char* cast_of(std::string_view from, std::string_view to) {
  const Element value = element_of(from), element = element_of(to);
  if (value.bits == 0 || element.bits == 0) return "";
  if (value.is_float != element.is_float) return value.is_float ? "arith.fptosi" : "arith.sitofp";
  if (value.bits == element.bits) return "";
  const bool widens = value.bits < element.bits;
  if (value.is_float) return widens ? "arith.extf" : "arith.truncf";
  return widens ? "arith.extsi" : "arith.trunci";
}

class ProgramUpgrade {
 public:
  explicit ProgramUpgrade(const MlirText& text) : text_(text), aliases_(text) {
    result_.text = text.text();
  }

  UpgradedText run() {
    for (std::size_t i = 0; i < text_.size(); ++i) {
      if (text_.is(i, Kind::kWord)) read_operation(i);
      if (text_.at(i + 1) != "<") continue;
      if (text_.at(i) == "#iree_codegen.compilation_info") {
        read_configuration(i);
        i = text_.behind(i + 1) - 1;
      } else if (text_.at(i).starts_with("#iree_gpu.")) {
        read_layout(i);
      }
    }
    if (!edits_.empty()) result_.text = edits_.apply(text_.text());
    return result_;
  }

 private:
  void read_operation(std::size_t i) {
    const std::string_view name = text_.at(i);
    if (name == "linalg.fill") {
      read_fill(i);
    } else if (is_transposed_product(name)) {
      edits_.replace(text_[i].begin, text_[i].end, product_with_maps(name));
      result_.changes.insert(UpgradeRule::kTransposedProducts);
    } else if (name == "iree_linalg_ext.attention" && text_.at(i + 1) == "{") {
      const std::size_t close = text_[i + 1].partner;
      edits_.replace(text_[i + 1].begin, text_[i + 1].begin, "<");
      edits_.replace(text_[close].end, text_[close].end, ">");
      result_.changes.insert(UpgradeRule::kStrictProperties);
    }
  }

  // A configuration inside the program, of the operation before it.
  void read_configuration(std::size_t i) {
    const std::size_t end = text_.behind(i + 1);
    std::size_t operation = i;
    while (operation > 0 && !text_.at(operation).starts_with("linalg.") &&
           !text_.at(operation).starts_with("iree_linalg_ext."))
      --operation;
    const UpgradedText configuration = upgraded_compilation_info(
        text_.between(i, end), loops_of(text_, operation, text_.size(), aliases_), 1);
    if (!configuration.problem.empty())
      result_.fail(fmt::format("line {}: {}", text_.line(i), configuration.problem));
    if (configuration.changes.empty()) return;
    edits_.replace(text_[i].begin, text_[end - 1].end, configuration.text);
    result_.changes.insert(configuration.changes.begin(), configuration.changes.end());
  }

  void read_layout(std::size_t i) {
    const std::size_t end = text_.behind(i + 1);
    const UpgradedText layout = upgraded_layout(text_.between(i, end));
    if (layout.changes.empty()) return;
    edits_.replace(text_[i].begin, text_[end - 1].end, layout.text);
    result_.changes.insert(layout.changes.begin(), layout.changes.end());
  }

  // "%f = linalg.fill ins(%value : f16) outs(%e : tensor<4xf32>)": the value is cast.
  void read_fill(std::size_t i) {
    std::size_t ins = i + 1;
    while (ins < text_.size() && text_.at(ins) == "{") ins = text_.behind(ins);
    const std::size_t open = ins + 1, outs = text_.behind(open);
    if (text_.at(ins) != "ins" || text_.at(open) != "(" || text_.at(outs) != "outs" ||
        text_.at(open + 2) != ":" || text_.behind(open) != open + 5)
      return;
    const std::string_view value = text_.at(open + 1), type = text_.at(open + 3);
    const std::size_t results = text_.find(":", outs, text_[outs + 1].partner) + 1;
    const std::string shaped = aliases_.expanded(text_.between(results, text_[outs + 1].partner));
    const auto x = shaped.rfind('x');
    const auto close = shaped.find_first_of(",>", x == std::string::npos ? 0 : x);
    if (x == std::string::npos || close == std::string::npos) return;
    const std::string element = shaped.substr(x + 1, close - x - 1);
    const std::string_view cast = cast_of(type, element);
    if (type == element || cast.empty()) return;
    const std::size_t statement = text_.at(i - 1) == "=" ? i - 2 : i;
    const std::string filled = fmt::format("%hone_filled_{}", ++fills_);
    edits_.replace(text_[statement].begin, text_[statement].begin,
                   fmt::format("{} = {} {} : {} to {}\n", filled, cast, value, type, element));
    edits_.replace(text_[open + 1].begin, text_[open + 3].end,
                   fmt::format("{} : {}", filled, element));
    result_.changes.insert(UpgradeRule::kFilledType);
  }

  const MlirText& text_;
  MlirAliases aliases_;
  MlirEdits edits_;
  int fills_ = 0;
  UpgradedText result_;
};

// The text with its aliases of configurations replaced by what they stand for.
std::string with_configurations(const MlirText& text) {
  const MlirAliases aliases(text);
  MlirEdits edits;
  for (const auto& [name, alias] : aliases.all()) {
    if (!alias.definition.starts_with("#iree_")) continue;
    edits.replace(text[alias.first].begin, text[alias.last - 1].end, "");
    for (std::size_t i = 0; i < text.size(); ++i)
      if (text.at(i) == name && (i < alias.first || i >= alias.last))
        edits.replace(text[i].begin, text[i].end, aliases.expanded(alias.definition));
  }
  return edits.apply(text.text());
}

}  // namespace

bool is_program(std::string_view text) {
  return text.find("transform.named_sequence") == std::string_view::npos &&
         (text.find("func.func") != std::string_view::npos ||
          text.find("util.func") != std::string_view::npos ||
          text.find("hal.executable") != std::string_view::npos);
}

bool is_transposed_product(std::string_view operation) {
  return operation == "linalg.matmul_transpose_b" || operation == "linalg.batch_matmul_transpose_b";
}

std::string product_with_maps(std::string_view operation) {
  const bool batch = operation == "linalg.batch_matmul_transpose_b";
  return fmt::format(
      "linalg.{0}matmul indexing_maps = [affine_map<({1}) -> ({2}m, k)>, "
      "affine_map<({1}) -> ({2}n, k)>, affine_map<({1}) -> ({2}m, n)>]",
      batch ? "batch_" : "", batch ? "b, m, n, k" : "m, n, k", batch ? "b, " : "");
}

Result<UpgradedText> upgraded_program(const std::string& text, const std::string& path) {
  HONE_ASSIGN(MlirText read, MlirText::read(text, path));
  HONE_ASSIGN(std::optional<std::string> program, program_of_benchmark(read, path));
  const bool is_benchmark = program.has_value();
  if (is_benchmark) {
    HONE_ASSIGN(read, MlirText::read(*std::move(program), path));
  }
  // A configuration under a name is one of each operation that has it.
  HONE_ASSIGN(read, MlirText::read(with_configurations(read), path));
  UpgradedText result = ProgramUpgrade(read).run();
  if (!result.problem.empty()) return input_error("{}: {}", path, result.problem);
  if (is_benchmark) result.changes.insert(UpgradeRule::kBenchmark);
  return result;
}

}  // namespace hone::iree
