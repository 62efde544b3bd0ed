#include "provider/iree/spec_upgrade/sequence.h"

#include "provider/iree/spec_upgrade/attention_script.h"
#include "provider/iree/spec_upgrade/program.h"
#include "provider/iree/spec_upgrade/written_match.h"

namespace hone::iree {
namespace {

using Kind = MlirToken::Kind;

constexpr std::string_view kAttention = "iree_linalg_ext.attention",
                           kOnlineAttention = "iree_linalg_ext.online_attention",
                           kWritten = "transform.iree.match.cast_compatible_dag_from_root";

// Steps that each read the text anew. A text that no longer parses stays as it was.
class OperationUpgrade {
 public:
  OperationUpgrade(const SpecFile& file, std::string text, std::optional<MatchedLoops> loops)
      : file_(file), loops_(std::move(loops)), result_{std::move(text), {}, ""} {}

  UpgradedText run() {
    step([&](const MlirText& text, MlirEdits& edits) { expand_aliases(text, edits); });
    step([&](const MlirText& text, MlirEdits& edits) { rename_layouts(text, edits); });
    step([&](const MlirText& text, MlirEdits& edits) { upgrade_decompositions(text, edits); });
    step([&](const MlirText& text, MlirEdits& edits) { upgrade_configurations(text, edits); });
    step([&](const MlirText& text, MlirEdits& edits) { upgrade_operations(text, edits); });
    return result_;
  }

 private:
  void step(const auto& upgrade) {
    const auto text = MlirText::read(result_.text, "");
    if (!text) return;
    MlirEdits edits;
    upgrade(*text, edits);
    if (!edits.empty()) result_.text = edits.apply(result_.text);
  }

  void take(const UpgradedText& part, const MlirText& text, std::size_t first, std::size_t last,
            MlirEdits& edits) {
    result_.changes.insert(part.changes.begin(), part.changes.end());
    if (!part.problem.empty()) result_.fail(part.problem);
    if (const std::string before = text.between(first, last); part.text != before)
      edits.replace(text[first].begin, text[last - 1].end, part.text);
  }

  // A definition may need what the sequence says of its loops.
  void expand_aliases(const MlirText& text, MlirEdits& edits) const {
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (!text.is(i, Kind::kAttribute)) continue;
      const auto found = file_.aliases().all().find(std::string(text.at(i)));
      if (found != file_.aliases().all().end() && found->second.definition.starts_with("#iree_"))
        edits.replace(text[i].begin, text[i].end,
                      file_.aliases().expanded(found->second.definition));
    }
  }

  void rename_layouts(const MlirText& text, MlirEdits& edits) {
    for (std::size_t i = 0; i + 1 < text.size(); ++i)
      if (text.at(i).starts_with("#iree_gpu.") && text.at(i + 1) == "<") {
        const std::size_t end = text.behind(i + 1);
        take(upgraded_layout(text.between(i, end)), text, i, end, edits);
      }
  }

  void upgrade_configurations(const MlirText& text, MlirEdits& edits) {
    for (std::size_t i = 0; i + 1 < text.size(); ++i) {
      if (text.at(i + 1) != "<") continue;
      const std::size_t end = text.behind(i + 1);
      if (text.at(i) == "#iree_codegen.compilation_info")
        take(upgraded_compilation_info(text.between(i, end), loops_, repeats_), text, i, end,
             edits);
      else if (text.at(i) == "#iree_codegen.translation_info")
        take(upgraded_translation(text.between(i, end)), text, i, end, edits);
      else
        continue;
      i = end - 1;
    }
  }

  void upgrade_decompositions(const MlirText& text, MlirEdits& edits) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text.at(i) != "{") continue;
      const std::size_t end = text.behind(i);
      const MlirFields fields(text, i + 1, end - 1);
      if (!fields.has("qk_attrs") || !fields.has("pv_attrs")) continue;
      RootTiles tiles = root_tiles(text);
      take(upgraded_decomposition(text.between(i, end), tiles), text, i, end, edits);
      repeats_ = tiles.repeats;
      i = end - 1;
    }
  }

  void upgrade_operations(const MlirText& text, MlirEdits& edits) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (!text.is(i, Kind::kWord)) continue;
      const std::string_view word = text.at(i);
      if (const std::string reason = lost(word); !reason.empty()) result_.fail(reason);
      if (word == "transform.print")
        upgrade_print(text, i, edits);
      else if (word == "transform.match.operation_name")
        rename_matched(text, i, edits);
      else if (word == kWritten)
        upgrade_written(text, i, edits);
      else if (word == "transform.iree.match.attention")
        result_.fail("transform.iree.match.attention, which does not say the type of the scale");
      else if (word == "iree_codegen.inner_tiled" || word == "iree_gpu.multi_mma")
        upgrade_inner_tiled(text, i, edits);
      else if (word == "transform.iree.match.contraction")
        upgrade_match(text, i, edits);
      else if (is_transposed_product(word))
        upgrade_transposed(text, i, edits);
      else if (word == "rocdl.sched.barrier" && text.at(i + 1) == "0")
        replace_mask(text, i + 1, edits);
      else if (has_strict_properties(word))
        enclose_properties(text, i, edits);
    }
  }

  // The token of a dictionary of attributes that follows an operation's operands; 0 if none does.
  static std::size_t dictionary_of(const MlirText& text, std::size_t operation) {
    std::size_t i = operation + 1;
    while (text.is(i, Kind::kValue) || text.at(i) == "[" || text.at(i) == ",") i = text.behind(i);
    return text.at(i) == "{" ? i : 0;
  }

  void enclose_properties(const MlirText& text, std::size_t operation, MlirEdits& edits) {
    const std::size_t open = dictionary_of(text, operation);
    if (open == 0) return;
    const std::size_t close = text[open].partner;
    edits.replace(text[open].begin, text[open].begin, "<");
    edits.replace(text[close].end, text[close].end, ">");
    result_.changes.insert(UpgradeRule::kStrictProperties);
  }

  void replace_mask(const MlirText& text, std::size_t mask, MlirEdits& edits) {
    edits.replace(text[mask].begin, text[mask].end, "none");
    result_.changes.insert(UpgradeRule::kBarrierMask);
  }

  // Its short form takes no name any more.
  void upgrade_print(const MlirText& text, std::size_t operation, MlirEdits& edits) {
    const std::size_t open = dictionary_of(text, operation);
    if (open == 0) return;
    const std::size_t end = text.behind(open);
    const bool is_typed = text.at(end) == ":";
    edits.replace(
        text[operation].begin, text[is_typed ? end + 1 : end - 1].end,
        fmt::format("\"transform.print\"({}) <{}> : ({}) -> ()", text.between(operation + 1, open),
                    text.between(open, end), is_typed ? text.at(end + 1) : ""));
    result_.changes.insert(UpgradeRule::kStrictProperties);
  }

  void rename_matched(const MlirText& text, std::size_t operation, MlirEdits& edits) {
    const std::size_t open = text.find("[", operation, text.size());
    if (open + 2 >= text.size() || text[open].partner != open + 2) return;
    const std::string name(text.at(open + 1).substr(1, text.at(open + 1).size() - 2));
    const bool is_transposed = is_transposed_product(name);
    std::string today =
        '"' + (is_transposed ? name.substr(0, name.find("_transpose")) : name) + '"';
    if (is_transposed) result_.changes.insert(UpgradeRule::kTransposedProducts);
    if (name == kAttention) {
      today = fmt::format("\"{}\"", kOnlineAttention);
      result_.changes.insert(UpgradeRule::kOnlineAttention);
    } else if (is_generalized(name)) {
      // The written operation says which linalg.generic.
      if (text.find(kWritten, 0, text.size()) < text.size()) today += ", \"linalg.generic\"";
    }
    if (today != text.at(open + 1)) edits.replace(text[open + 1].begin, text[open + 1].end, today);
  }

  void upgrade_written(const MlirText& text, std::size_t operation, MlirEdits& edits) {
    const auto match = upgraded_match(file_, text, operation);
    if (!match) return;
    result_.changes.insert(match->statement.changes.begin(), match->statement.changes.end());
    if (!match->statement.problem.empty()) return result_.fail(match->statement.problem);
    edits.replace(text[match->first].begin, text[match->last - 1].end, match->statement.text);
  }

  // Its operands are the values of one lane, as they were without `semantics`. Before 2025-06-13 it
  // was iree_gpu.multi_mma.
  void upgrade_inner_tiled(const MlirText& text, std::size_t operation, MlirEdits& edits) {
    const std::size_t open = text.find("{", operation, text.size());
    if (open >= text.size() || text.at(open - 1) == "<") return;
    const std::size_t close = text[open].partner;
    if (text.at(operation) == "iree_gpu.multi_mma") {
      if (open != operation + 6) return;
      edits.replace(
          text[operation].begin, text[open - 1].end,
          fmt::format("iree_codegen.inner_tiled ins({}, {}) outs({})", text.at(operation + 1),
                      text.at(operation + 3), text.at(operation + 5)));
      result_.changes.insert(UpgradeRule::kMultiMma);
    } else if (const std::size_t sums = text.find("acc", operation, open); sums < open) {
      edits.replace(text[sums].begin, text[sums].end, "outs");
    }
    for (std::size_t i = open; i < close; ++i)
      if (text.at(i) == "#iree_gpu.iterator_type")
        edits.replace(text[i].begin, text[i].end, "#linalg.iterator_type");
    edits.replace(text[open].begin, text[open].begin, "<");
    const bool has_semantics = text.find("semantics", open, close) < close;
    edits.replace(text[close].begin, text[close].end,
                  has_semantics
                      ? "}>"
                      : ", semantics = #iree_gpu.mma_semantics<distributed = true, opaque "
                        "= false>}>");
    result_.changes.insert(UpgradeRule::kInnerTiled);
  }

  // "%x, lhs_type = f16 {indexing_maps = [...]} : (T) -> (P, P, P, P)", until 2025-10-09.
  void upgrade_match(const MlirText& text, std::size_t operation, MlirEdits& edits) {
    const std::size_t open = text.find("{", operation, text.size());
    if (open >= text.size() || text.at(open + 1) != "indexing_maps") return;
    const std::size_t close = text[open].partner, types = close + 2;
    edits.replace(text[open - 1].end, text[open].end, ", ");
    edits.replace(text[close].begin, text[close].end, "");
    // "(T) -> (P, P, P, P)" is "T -> P" today.
    const std::size_t arrow = text.behind(types), results = arrow + 1;
    if (text.at(types) == "(" && text.at(arrow) == "->" && text.at(results) == "(") {
      const std::size_t end = text[results].partner;
      edits.replace(text[types].begin, text[end].end,
                    fmt::format("{} -> {}", text.between(types + 1, arrow - 1),
                                text.between(results + 1, text.end_of_item(results + 1, end))));
    }
    result_.changes.insert(UpgradeRule::kMatcherKeywords);
  }

  void upgrade_transposed(const MlirText& text, std::size_t operation, MlirEdits& edits) {
    edits.replace(text[operation].begin, text[operation].end,
                  product_with_maps(text.at(operation)));
    result_.changes.insert(UpgradeRule::kTransposedProducts);
  }

  const SpecFile& file_;
  std::optional<MatchedLoops> loops_;
  long repeats_ = 1;
  UpgradedText result_;
};

}  // namespace

UpgradedText upgraded_operation(const SpecFile& file, const SpecOperation& operation) {
  if (auto configured = configured_attention(file, operation)) return *std::move(configured);
  return OperationUpgrade(file, file.text().between(operation.first, operation.last),
                          matched_loops(file, operation))
      .run();
}

UpgradedText upgraded_alias(const std::string& definition) {
  return upgraded_layout(definition);
}

UpgradedText upgraded_entry_point(const SpecFile& file, const std::vector<SpecPair>& kept) {
  const SpecOperation& entry = file.entry_point();
  const MlirText& text = file.text();
  MlirEdits edits;
  UpgradedText result{text.between(entry.first, entry.last), {}, ""};
  const std::size_t start = text[entry.first].begin;
  const auto replace = [&](std::size_t begin, std::size_t end, std::string with) {
    edits.replace(begin - start, end - start, std::move(with));
  };

  bool is_list = true;  // with one comma between two pairs
  for (std::size_t i = 1; i < file.pairs().size(); ++i)
    is_list = is_list && file.pairs()[i].first == file.pairs()[i - 1].last + 1;
  if (kept.size() < file.pairs().size() || !is_list) {
    std::vector<std::string> lines;
    for (const SpecPair& pair : kept)
      lines.push_back(fmt::format("@{} -> @{}", pair.matcher, pair.action));
    replace(text[file.pairs().front().first].begin, text[file.pairs().back().last - 1].end,
            fmt::format("{}", fmt::join(lines, ",\n        ")));
  }

  // "(%variant: !transform.any_op {transform.consumed}) -> !transform.any_op attributes {...} {"
  const std::size_t open = text.find("(", entry.first, entry.body), close = text.behind(open);
  const std::size_t attributes = text.find("attributes", close, entry.body);
  std::string added;
  if (text.at(close) != "->") added = " -> !transform.any_op";
  const bool is_marked =
      text.find("iree_codegen.tuning_spec_entrypoint", close, entry.body) < entry.body;
  if (!is_marked && attributes < entry.body)
    replace(text[attributes + 1].end, text[attributes + 1].end,
            "iree_codegen.tuning_spec_entrypoint" +
                std::string(text.at(attributes + 2) == "}" ? "" : ", "));
  else if (!is_marked)
    added += " attributes {iree_codegen.tuning_spec_entrypoint}";
  if (!added.empty()) {
    const std::size_t at = text.at(close) == "->" ? entry.body - 1 : close - 1;
    replace(text[at].end, text[at].end, added);
  }

  // The foreach_match gives what the sequence yields.
  std::string updated;
  for (std::size_t i = entry.body + 1; i < entry.last; ++i) {
    if (text.at(i) == "transform.foreach_match") {
      if (text.at(i - 1) == "=") {
        updated = text.at(i - 2);
      } else {
        updated = "%hone_updated";
        replace(text[i].begin, text[i].begin, updated + " = ");
      }
    } else if (text.at(i) == "transform.yield" && !text.is(i + 1, Kind::kValue)) {
      replace(text[i].end, text[i].end, " " + updated + " : !transform.any_op");
    }
  }
  if (!edits.empty()) result.text = edits.apply(result.text);
  result = OperationUpgrade(file, result.text, std::nullopt).run();
  if (!is_marked || !added.empty()) result.changes.insert(UpgradeRule::kEntryPoint);
  return result;
}

}  // namespace hone::iree
