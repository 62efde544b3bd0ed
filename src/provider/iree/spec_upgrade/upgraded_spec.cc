#include "provider/iree/spec_upgrade/upgraded_spec.h"

#include <algorithm>
#include <map>
#include <set>

#include "provider/iree/compiler/compiler_session.h"
#include "provider/iree/spec_upgrade/program.h"
#include "provider/iree/spec_upgrade/sequence.h"

namespace hone::iree {
namespace {

// The first line of the compiler's words, without the place in hone's text: "FILE:3:5: ".
std::string first_error(std::string_view diagnostics, const std::string& path) {
  std::string_view words = diagnostics.substr(0, diagnostics.find('\n'));
  if (words.starts_with(path))
    if (const auto colon = words.find(": ", path.size()); colon != std::string_view::npos)
      words.remove_prefix(colon + 2);
  constexpr std::string_view kError = "error: ";
  if (words.starts_with(kError)) words.remove_prefix(kError.size());
  return std::string(words);
}

class Upgrader {
 public:
  Upgrader(const CompilerSession& session, const SpecFile& file, std::string path)
      : session_(session), file_(file), path_(std::move(path)) {}

  Result<UpgradedSpec> run() {
    upgrade_parts();
    for (const SpecPair& pair : file_.pairs()) add_entry(pair);
    HONE_TRY(check());
    collect();
    return std::move(spec_);
  }

 private:
  void upgrade_parts() {
    for (const SpecOperation& each : file_.operations())
      if (!each.symbol.empty() && &each != &file_.entry_point())
        parts_[each.symbol] = upgraded_operation(file_, each);
    for (const auto& [name, alias] : file_.aliases().all())
      aliases_[name] = upgraded_alias(alias.definition);
    for (auto& [symbol, part] : parts_)
      if (part.problem.empty()) name_lost_passes(part);
  }

  // A pass by its name parses whatever it is called, and fails when the spec is applied.
  void name_lost_passes(UpgradedText& part) {
    const auto text = MlirText::read(part.text, "");
    for (std::size_t i = 0; text && i < text->size(); ++i)
      if (text->at(i) == "transform.apply_registered_pass" && text->at(i + 1).starts_with('"')) {
        const std::string name(text->at(i + 1).substr(1, text->at(i + 1).size() - 2));
        if (!has_pass(name)) part.fail(fmt::format("pass {}, which IREE does not have", name));
      }
  }

  bool has_pass(const std::string& name) {
    const auto known = passes_.find(name);
    if (known != passes_.end()) return known->second;
    // No operation is inside the module: the pass is looked up and does not run.
    Invocation invocation(session_);
    const bool has = invocation.parse("passes", "module {\n}\n") &&
                     invocation.run_passes(fmt::format("any({})", name).c_str());
    passes_.emplace(name, has);
    return has;
  }

  void add_entry(const SpecPair& pair) {
    UpgradedEntry& entry = spec_.entries.emplace_back();
    entry.matcher = pair.matcher;
    entry.line = file_.text().line(file_.find(pair.matcher)->first);
    std::set<std::string> reached;
    reach(pair.matcher, reached);
    reach(pair.action, reached);
    std::set<UpgradeRule> changes;
    for (const std::string& symbol : reached) {
      const UpgradedText& part = parts_.at(symbol);
      changes.insert(part.changes.begin(), part.changes.end());
      if (!part.problem.empty() && entry.problem.empty())
        entry.problem =
            symbol == pair.matcher ? part.problem : fmt::format("@{}: {}", symbol, part.problem);
    }
    for (const UpgradeRule rule : changes) entry.changes.push_back(iree::to_text(rule));
    reached_.push_back(std::move(reached));
  }

  // The operation and all that its text of today names.
  void reach(const std::string& symbol, std::set<std::string>& reached) const {
    const auto part = parts_.find(symbol);
    if (part == parts_.end() || !reached.insert(symbol).second) return;
    const auto text = MlirText::read(part->second.text, "");
    for (std::size_t i = 0; text && i < text->size(); ++i)
      if (text->is(i, MlirToken::Kind::kSymbol)) reach(symbol_of(text->at(i)), reached);
  }

  // The spec with the entries that `kept` names.
  std::string text_of(const std::vector<std::size_t>& kept) const {
    std::set<std::string> needed;
    std::vector<SpecPair> pairs;
    for (const std::size_t i : kept) {
      needed.insert(reached_[i].begin(), reached_[i].end());
      pairs.push_back(file_.pairs()[i]);
    }
    MlirEdits edits;
    const MlirText& text = file_.text();
    std::string used;  // to know the aliases that are
    for (const SpecOperation& each : file_.operations()) {
      if (&each == &file_.entry_point()) {
        edits.replace(text[each.first].begin, text[each.last - 1].end,
                      upgraded_entry_point(file_, pairs).text);
      } else if (each.symbol.empty() || needed.contains(each.symbol)) {
        const std::string now =
            each.symbol.empty() ? text.between(each.first, each.last) : parts_.at(each.symbol).text;
        edits.replace(text[each.first].begin, text[each.last - 1].end, now);
        used += now;
      } else {
        edits.replace(comments_before(each.first), text[each.last - 1].end, "");
      }
    }
    for (const auto& [name, alias] : file_.aliases().all()) {
      const std::size_t begin = text[alias.first].begin, end = text[alias.last - 1].end;
      if (names(used, name))
        edits.replace(begin, end, name + " = " + aliases_.at(name).text);
      else
        edits.replace(begin, end, "");
    }
    return edits.apply(text.text());
  }

  // Whether the text, or an alias that it names, names an alias.
  bool names(const std::string& text, const std::string& alias) const {
    const auto read = MlirText::read(text, "");
    for (std::size_t i = 0; read && i < read->size(); ++i) {
      const std::string token(read->at(i));
      if (token == alias) return true;
      const auto found = aliases_.find(token);
      if (found != aliases_.end() && names(found->second.text, alias)) return true;
    }
    return false;
  }

  // The first byte of the lines of comments that end above the token.
  std::size_t comments_before(std::size_t token) const {
    const std::string& text = file_.text().text();
    std::size_t begin = file_.text()[token].begin;
    while (begin > 0) {
      const std::size_t line = text.rfind('\n', begin - 1);
      if (line == std::string::npos || line == 0) break;
      const std::size_t above = text.rfind('\n', line - 1) + 1;
      const std::size_t word = text.find_first_not_of(" \t", above);
      if (text.compare(word, 2, "//") != 0 || text.compare(word, 3, "//=") == 0) break;
      begin = word;
    }
    return begin;
  }

  std::vector<std::size_t> kept() const {
    std::vector<std::size_t> kept;
    for (std::size_t i = 0; i < spec_.entries.size(); ++i)
      if (spec_.entries[i].problem.empty()) kept.push_back(i);
    return kept;
  }

  // The compiler's reason to refuse a spec; "" if it parses.
  std::string refusal(const std::string& text) const {
    Invocation invocation(session_);
    return invocation.parse(path_, text) ? "" : first_error(invocation.diagnostics(), path_);
  }

  Status check() {
    const std::vector<std::size_t> upgraded = kept();
    if (upgraded.empty()) return {};
    spec_.text = text_of(upgraded);
    if (refusal(spec_.text).empty()) return {};
    for (const std::size_t i : upgraded)
      if (const std::string words = refusal(text_of({i})); !words.empty())
        spec_.entries[i].problem = "IREE: " + words;
    const std::vector<std::size_t> parsed = kept();
    spec_.text = parsed.empty() ? "" : text_of(parsed);
    if (parsed.empty()) return refuse_unknown();
    if (const std::string words = refusal(spec_.text); !words.empty())
      return failure("IREE does not read the upgraded '{}': {}", path_, words);
    return {};
  }

  // A spec that no rule applies to, and of which the compiler reads no entry, is of no older
  // syntax.
  Status refuse_unknown() const {
    const bool is_old = std::ranges::any_of(
        spec_.entries, [](const UpgradedEntry& entry) { return !entry.changes.empty(); });
    if (is_old) return {};
    const auto refused = std::ranges::find_if(
        spec_.entries, [](const UpgradedEntry& entry) { return !entry.problem.empty(); });
    return input_error(
        "{}:{}: @{} has no old syntax that hone knows, and the compiler does not read it: {}; if "
        "the spec is of a newer compiler, give that one: --iree FOLDER",
        path_, refused->line, refused->matcher, refused->problem);
  }

  void collect() {
    std::set<std::string> needed;
    for (const std::size_t i : kept()) needed.insert(reached_[i].begin(), reached_[i].end());
    for (const SpecOperation& each : file_.operations())
      if (&each != &file_.entry_point() && !each.symbol.empty() && !needed.contains(each.symbol))
        spec_.left_out.push_back(each.symbol);
    for (const UpgradeRule rule : upgraded_entry_point(file_, file_.pairs()).changes)
      spec_.changes.push_back(iree::to_text(rule));
  }

  const CompilerSession& session_;
  const SpecFile& file_;
  std::string path_;
  std::map<std::string, UpgradedText> parts_, aliases_;
  std::map<std::string, bool> passes_;          // by name, whether the compiler has it
  std::vector<std::set<std::string>> reached_;  // of each entry
  UpgradedSpec spec_;
};

Result<UpgradedSpec> upgrade_program(const CompilerSession& session, const std::string& path,
                                     const std::string& bytes) {
  UpgradedSpec spec;
  spec.is_program = true;
  spec.text = bytes;
  if (Invocation(session).parse(path, bytes)) return spec;
  HONE_ASSIGN(UpgradedText program, upgraded_program(bytes, path));
  Invocation invocation(session);
  if (!invocation.parse(path, program.text))
    return input_error("'{}' is no program that IREE reads, nor one after {} changes:\n{}", path,
                       program.changes.size(), invocation.diagnostics());
  spec.text = std::move(program.text);
  for (const UpgradeRule rule : program.changes) spec.changes.push_back(iree::to_text(rule));
  return spec;
}

}  // namespace

void give_blobs(UpgradedSpec& spec, provider::Message& message) {
  message.blobs.push_back(std::move(spec.text));
}

Status take_blobs(UpgradedSpec& spec, provider::Message& message) {
  if (message.blobs.empty()) return failure("cannot be read: the upgraded spec is missing");
  spec.text = std::move(message.blobs.front());
  return {};
}

Result<UpgradedSpec> upgrade_spec(const CompilerLibrary& library, const SpecSources& sources) {
  if (sources.paths.empty()) return failure("no spec to upgrade");
  constexpr std::string_view kBytecode = "ML\xefR";
  if (sources.bytes.front().starts_with(kBytecode))
    return input_error(
        "'{}' is bytecode, and only text is upgraded; write it as text by the compiler that made "
        "it: iree-opt {} -o old.mlir",
        sources.paths.front(), sources.paths.front());
  HONE_ASSIGN(const CompilerSession session, CompilerSession::create(library, {}));
  if (is_program(sources.bytes.front()))
    return upgrade_program(session, sources.paths.front(), sources.bytes.front());
  HONE_ASSIGN(const SpecFile file, SpecFile::read(sources.bytes.front(), sources.paths.front()));
  return Upgrader(session, file, sources.paths.front()).run();
}

}  // namespace hone::iree
