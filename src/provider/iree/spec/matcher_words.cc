// matched_in_words() of parsed_module.h.
#include <map>
#include <string_view>
#include <vector>

#include "provider/iree/spec/parsed_module.h"

namespace hone::iree {
namespace {

constexpr std::string_view kMatch = "transform.iree.match.";

// Names of the groups of loops that a matcher yields, in their order.
constexpr const char* kContractionRoles[] = {"batch", "m", "n", "k"};
constexpr const char* kConvolutionRoles[] = {
    "batch", "image", "output channel", "filter", "input channel", "depth", "strides", "dilations"};
constexpr const char* kAttentionRoles[] = {"batch", "m", "n", "k1", "k2"};

class MatcherWords {
 public:
  MatcherWords(const Ir& ir, MlirOperation module) : ir_(ir), module_(module) {}

  std::string of(MlirOperation matcher) {
    add(matcher, 0);
    std::string text = fmt::format("{}", fmt::join(kinds_, ", "));
    if (!types_.empty()) text += fmt::format(" of {}", fmt::join(types_, ", "));
    if (!sizes_.empty()) text += fmt::format(", {}", fmt::join(sizes_, ", "));
    return text.empty() ? "any operation" : text;
  }

 private:
  static constexpr int kDeepest = 8;  // a sequence may include itself

  void add(MlirOperation sequence, int depth) {
    if (!sequence || depth > kDeepest) return;
    for (const MlirOperation each : ir_.children(sequence)) {
      const std::string_view name = ir_.name(each);
      if (name == "transform.include")
        add_included(each, depth + 1);
      else if (name == "transform.match.operation_name")
        add_names(each);
      else if (name.starts_with(kMatch))
        add_condition(each, name.substr(kMatch.size()));
    }
  }

  void add_included(MlirOperation include, int depth) {
    const MlirOperation included =
        sequence_named(ir_, module_, ir_.leaf_symbol(ir_.attribute(include, "target")));
    if (!included) return;
    add(included, depth);
    // Sizes that it yields keep their roles.
    const std::vector<MlirValue> results = ir_.results(include);
    for (const MlirOperation yield : ir_.children(included, "transform.yield")) {
      const std::vector<MlirValue> yielded = ir_.operands(yield);
      for (std::size_t i = 0; i < results.size() && i < yielded.size(); ++i)
        if (const auto role = roles_.find(yielded[i]); role != roles_.end())
          roles_[results[i]] = role->second;
    }
  }

  void add_names(MlirOperation condition) {
    std::string names;
    for (const MlirAttribute each : ir_.elements(ir_.attribute(condition, "op_names")))
      names += (names.empty() ? "" : " or ") + ir_.string_value(each).value_or("");
    // Names of the operations around the root come behind its own.
    if (kinds_.empty()) kinds_.push_back(names);
  }

  void add_condition(MlirOperation condition, std::string_view kind) {
    if (kind == "contraction")
      add_root(condition, kind, {"lhs_type", "rhs_type"}, kContractionRoles);
    else if (kind == "convolution")
      add_root(condition, kind, {"lhs_type", "rhs_type"}, kConvolutionRoles);
    else if (kind == "attention")
      add_root(condition, kind, {"query_type", "key_type", "value_type"}, kAttentionRoles);
    else if (kind == "dims_equal")
      add_sizes(condition);
    else if (kind == "cast_compatible_type")
      types_.push_back(ir_.text(ir_.attribute(condition, "target_type")));
    else if (kind == "cast_compatible_dag_from_root")
      add_graph(condition);
    else if (kind != "has_no_lowering_config")
      kinds_.emplace_back(kind);
  }

  void add_root(MlirOperation condition, std::string_view kind,
                const std::vector<std::string_view>& operands, const auto& roles) {
    std::vector<std::string> types;
    for (const std::string_view operand : operands)
      types.push_back(ir_.text(ir_.attribute(condition, operand)));
    kinds_.push_back(fmt::format("{} {} -> {}", kind, fmt::join(types, " x "),
                                 ir_.text(ir_.attribute(condition, "output_type"))));
    const std::vector<MlirValue> results = ir_.results(condition);
    for (std::size_t i = 0; i < results.size() && i < std::size(roles); ++i)
      roles_[results[i]] = roles[i];
  }

  void add_sizes(MlirOperation condition) {
    const std::vector<MlirValue> of = ir_.operands(condition);
    const auto sizes = ir_.long_integers(ir_.attribute(condition, "expected_values"));
    if (of.empty() || sizes.empty()) return;
    std::vector<std::string> words;
    for (const std::int64_t size : sizes) words.push_back(size < 0 ? "?" : fmt::format("{}", size));
    const auto role = roles_.find(of.front());
    sizes_.push_back(
        fmt::format("{} {}", role == roles_.end() ? "sizes" : role->second, fmt::join(words, "x")));
  }

  void add_graph(MlirOperation condition) {
    std::string names;
    for (const MlirOperation each : ir_.children(condition))
      if (ir_.name(each).starts_with("linalg."))
        names += (names.empty() ? "" : ", ") + std::string(ir_.name(each));
    kinds_.push_back("graph of " + names);
  }

  const Ir& ir_;
  MlirOperation module_;
  std::vector<std::string> kinds_, types_, sizes_;
  std::map<MlirValue, const char*> roles_;
};

}  // namespace

std::string matched_in_words(const Ir& ir, MlirOperation module, MlirOperation matcher) {
  return MatcherWords(ir, module).of(matcher);
}

}  // namespace hone::iree
