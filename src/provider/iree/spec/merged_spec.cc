#include "provider/iree/spec/merged_spec.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "base/text.h"
#include "provider/iree/spec/parsed_module.h"
#include "provider/iree/spec/tuning_spec.h"

namespace hone::iree {
namespace {

constexpr char kOrigin[] = "hone.origin";

// Returns a string attribute's text.
std::string attribute_of(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text)
    if (c == '"' || c == '\\' || std::iscntrl(static_cast<unsigned char>(c)) != 0)
      quoted += fmt::format("\\{:02X}", static_cast<unsigned char>(c));
    else
      quoted += c;
  return quoted + '"';
}

std::string entry_point_text(const std::vector<EntryPoint::Pair>& pairs, bool restores_batch) {
  std::vector<std::string> lines;
  for (const EntryPoint::Pair& pair : pairs)
    lines.push_back(fmt::format("@{} -> @{}", pair.matcher, pair.action));
  return fmt::format(
      "  transform.named_sequence @{}(%variant: !transform.any_op {{transform.consumed}})\n"
      "      -> !transform.any_op attributes {{iree_codegen.tuning_spec_entrypoint}} {{\n"
      "{}"
      "    %configured = transform.foreach_match in {}\n"
      "      {}\n"
      "      : (!transform.any_op) -> !transform.any_op\n"
      "    transform.yield %configured : !transform.any_op\n"
      "  }}\n",
      kEntryPoint, restores_batch ? batch_restoring_text("%variant", "%batched") : "",
      restores_batch ? "%batched" : "%variant", fmt::join(lines, ",\n      "));
}

// A string of the IR has no line breaks of its own.
std::string indented(const std::string& text) {
  std::string lines = "  ";
  for (const char c : text) {
    lines += c;
    if (c == '\n') lines += "  ";
  }
  return lines;
}

// The module's operations that `keeps` accepts, behind them the entry point. Operations inside a
// module are printed without aliases, so that modules of several files can stand in one.
std::string module_text(const Ir& ir, MlirOperation module, const std::string& name,
                        const EntryPoint& entry_point, const auto& keeps) {
  std::string text = fmt::format(
      "module{}{} attributes {{\n  transform.with_named_sequence{}\n}} {{\n",
      name.empty() ? "" : " @", name,
      entry_point.restores_batch ? "" : ", iree_codegen.tuning_spec_with_default_entrypoint");
  for (const MlirOperation each : ir.children(module))
    if (ir.symbol(each) != kEntryPoint && keeps(each)) text += indented(ir.text(each)) + "\n";
  return text + entry_point_text(entry_point.pairs, entry_point.restores_batch) + "}\n";
}

// Each symbol in a text ("@match_mm"), with the place behind it.
void for_each_symbol(std::string_view text, const auto& visit) {
  for (std::size_t at = text.find('@'); at != std::string_view::npos; at = text.find('@', at)) {
    const std::size_t begin = ++at;
    while (at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 ||
                                text[at] == '_' || text[at] == '.' || text[at] == '$'))
      ++at;
    visit(std::string(text.substr(begin, at - begin)), begin, at);
  }
}

// Sequences of a linked module, by symbol.
class Sequences {
 public:
  Sequences(const Ir& ir, MlirOperation module) : ir_(ir) {
    for (const MlirOperation each : ir.children(module, "transform.named_sequence"))
      texts_[ir.symbol(each)] = {each, ir.text(each)};
  }

  // Returns text that is equal for sequences that do the same, whatever they and those that they
  // include are called. Without `configuration` the attributes of configurations are left out.
  std::string meaning(const std::string& symbol, bool configuration) const {
    std::set<std::string> inside;
    return meaning(symbol, configuration, inside);
  }

  // Adds the sequence and all that it includes.
  void reach(const std::string& symbol, std::set<std::string>& reached) const {
    const auto found = texts_.find(symbol);
    if (found == texts_.end() || !reached.insert(symbol).second) return;
    for_each_symbol(found->second.text,
                    [&](const std::string& other, auto, auto) { reach(other, reached); });
  }

 private:
  struct Sequence {
    MlirOperation operation;
    std::string text;
  };

  std::string meaning(const std::string& symbol, bool configuration,
                      std::set<std::string>& inside) const {
    const auto found = texts_.find(symbol);
    if (found == texts_.end() || !inside.insert(symbol).second) return "@" + symbol;
    std::string text = found->second.text;
    if (!configuration)
      ir_.walk(found->second.operation, [&](MlirOperation operation) {
        if (!ir_.is(operation, "transform.param.constant")) return;
        const std::string value = ir_.text(ir_.attribute(operation, "value"));
        if (value.starts_with("#iree_")) replace_all(text, value, "#");
      });
    std::string names_out, included;
    std::size_t from = 0;
    for_each_symbol(text, [&](const std::string& other, std::size_t begin, std::size_t end) {
      names_out += text.substr(from, begin - from);
      from = end;
      if (other != symbol) included += meaning(other, configuration, inside);
    });
    return names_out + text.substr(from) + included;
  }

  static void replace_all(std::string& text, const std::string& old, std::string_view with) {
    for (std::size_t at = text.find(old); at != std::string::npos; at = text.find(old, at))
      text.replace(at, old.size(), with);
  }

  const Ir& ir_;
  std::map<std::string, Sequence> texts_;
};

class Merger {
 public:
  Merger(const CompilerSession& session, std::vector<int> left_out)
      : session_(session), left_out_(std::move(left_out)) {}

  // Adds a file's entries, and its modules in the form that the compiler's pass links.
  Status add(const std::string& path, const std::string& bytes) {
    HONE_ASSIGN(const OwnedModule file, parsed_spec(session_, path, bytes));
    const Ir ir(session_.api());
    HONE_ASSIGN(const std::vector<SpecModule> modules, spec_modules(ir, file.get(), path));
    for (const SpecModule& module : modules) HONE_TRY(add(ir, module, path));
    return {};
  }

  Result<MergedSpec> merge() {
    HONE_ASSIGN(const OwnedModule linked, link());
    const Ir ir(session_.api());
    HONE_ASSIGN(EntryPoint entry_point, entry_point_of(ir, {linked.get()}, kMerged));
    if (entry_point.pairs.size() != merged_.entries.size())
      return failure("IREE linked {} entries as {}", merged_.entries.size(),
                     entry_point.pairs.size());
    for (std::size_t i = 0; i < entry_point.pairs.size(); ++i) {
      const MlirOperation matcher = sequence_named(ir, linked.get(), entry_point.pairs[i].matcher);
      MergedEntry& entry = merged_.entries[i];
      if (const auto origin = ir.string_value(ir.attribute(matcher, kOrigin))) {
        entry.origin = *origin;
        ir.remove_attribute(matcher, kOrigin);
      }
      entry.matches = matched_in_words(ir, linked.get(), matcher);
    }
    const std::set<std::string> kept = judge(Sequences(ir, linked.get()), entry_point.pairs);
    if (entry_point.pairs.empty()) return input_error("no entry is left for a spec");
    for (std::size_t i = 0; i < merged_.entries.size(); ++i)
      if (!merged_.entries[i].symbol.empty())
        ir.set_attribute(sequence_named(ir, linked.get(), merged_.entries[i].symbol), kOrigin,
                         attribute_of(merged_.entries[i].origin));
    entry_point.restores_batch = !merged_.restore_batch.empty();
    merged_.text = module_text(ir, linked.get(), "", entry_point, [&](MlirOperation each) {
      return !ir.is(each, "transform.named_sequence") || kept.contains(ir.symbol(each));
    });
    HONE_TRY(parsed_spec(session_, kMerged, merged_.text));
    return std::move(merged_);
  }

 private:
  Status add(const Ir& ir, const SpecModule& module, const std::string& path) {
    HONE_ASSIGN(const ParsedSpec spec, read_spec(ir, module, path));
    for (const ParsedSpecEntry& entry : spec.entries) {
      MergedEntry& added = merged_.entries.emplace_back();
      added.path = path;
      added.matcher = module.inside + entry.matcher;
      added.line = entry.line;
      added.lowering_config = entry.lowering_config;
      added.translation_info = entry.translation_info;
      added.origin = fmt::format("{}:{} @{}", path, entry.line, added.matcher);
    }
    HONE_ASSIGN(EntryPoint entry_point, entry_point_of(ir, module, path));
    std::vector<std::string>& restoring = merged_.restore_batch;
    if (entry_point.restores_batch && (restoring.empty() || restoring.back() != path))
      restoring.push_back(path);
    entry_point.restores_batch = false;
    modules_.push_back(
        module_text(ir, module.module, fmt::format("spec_{}", modules_.size()), entry_point,
                    [&](MlirOperation each) { return ir.symbol(each) != module.entry_point; }));
    return {};
  }

  static constexpr char kMerged[] = "the merged spec";

  Result<OwnedModule> link() const {
    const std::string nested =
        fmt::format("module @merged attributes {{transform.with_named_sequence}} {{\n{}}}\n",
                    fmt::join(modules_, ""));
    // The compiler's pass refuses to link one spec alone.
    return modules_.size() == 1 ? parsed_spec(session_, kMerged, modules_.front())
                                : linked_specs(session_, kMerged, nested);
  }

  // Finds entries behind others, and drops them and left_out_ from `pairs`. Returns the symbols
  // that the rest needs.
  std::set<std::string> judge(const Sequences& sequences, std::vector<EntryPoint::Pair>& pairs) {
    std::map<std::string, std::size_t> first;  // by the matcher's conditions
    std::set<std::string> kept;
    const auto done_by = [&](std::size_t i) {
      return sequences.meaning(pairs[i].matcher, true) + sequences.meaning(pairs[i].action, true);
    };
    std::vector<EntryPoint::Pair> left;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      MergedEntry& entry = merged_.entries[i];
      if (std::ranges::count(left_out_, static_cast<int>(i)) > 0) continue;
      const auto [at, is_first] = first.emplace(sequences.meaning(pairs[i].matcher, false), i);
      if (!is_first) {
        entry.behind = static_cast<int>(at->second);
        entry.repeated = done_by(i) == done_by(at->second);
        continue;
      }
      entry.symbol = pairs[i].matcher;
      sequences.reach(pairs[i].matcher, kept);
      sequences.reach(pairs[i].action, kept);
      left.push_back(pairs[i]);
    }
    pairs = std::move(left);
    return kept;
  }

  const CompilerSession& session_;
  const std::vector<int> left_out_;
  MergedSpec merged_;
  std::vector<std::string> modules_;
};

}  // namespace

void give_blobs(SpecSources& sources, provider::Message& message) {
  for (std::string& bytes : sources.bytes) message.blobs.push_back(std::move(bytes));
}

Status take_blobs(SpecSources& sources, provider::Message& message) {
  if (message.blobs.size() != sources.paths.size())
    return failure("cannot be read: {} specs have {} texts", sources.paths.size(),
                   message.blobs.size());
  sources.bytes = std::move(message.blobs);
  return {};
}

void give_blobs(MergedSpec& merged, provider::Message& message) {
  message.blobs.push_back(std::move(merged.text));
}

Status take_blobs(MergedSpec& merged, provider::Message& message) {
  if (message.blobs.empty()) return failure("cannot be read: the merged spec is missing");
  merged.text = std::move(message.blobs.front());
  return {};
}

Result<MergedSpec> merge_specs(const CompilerLibrary& library, const SpecSources& sources) {
  HONE_ASSIGN(const CompilerSession session, CompilerSession::create(library, {}));
  Merger merger(session, sources.left_out);
  for (std::size_t i = 0; i < sources.paths.size(); ++i)
    HONE_TRY(merger.add(sources.paths[i], sources.bytes[i]));
  return merger.merge();
}

}  // namespace hone::iree
