#include "provider/iree/spec_upgrade/spec_file.h"

#include <algorithm>

#include "provider/iree/spec/parsed_module.h"

namespace hone::iree {
namespace {

using Kind = MlirToken::Kind;

}  // namespace

Result<SpecFile> SpecFile::read(std::string text, const std::string& path) {
  SpecFile file;
  HONE_ASSIGN(file.text_, MlirText::read(std::move(text), path));
  HONE_TRY(file.read_top(path));
  HONE_TRY(file.read_pairs(path));
  return file;
}

// Aliases and the module, which are all that a file's outermost level has.
Status SpecFile::read_top(const std::string& path) {
  aliases_ = MlirAliases(text_);
  std::vector<std::size_t> modules;  // their braces
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text_.size();) {
    if (is_module(text_.at(i))) {
      begin = i;
      while (i < text_.size() && text_.at(i) != "{") {
        if (text_.at(i) == "attributes" && text_.at(i + 1) == "{") ++i;
        i = text_.behind(i);
      }
      if (i < text_.size()) modules.push_back(i);
      i = i < text_.size() ? text_.behind(i) : i;
    } else {
      i = text_.behind(i);
    }
  }
  if (modules.size() > 1)
    return input_error(
        "{}:{}: the file has {} modules, and a spec is one; write each into a file of its own",
        path, text_.line(modules[1]), modules.size());
  if (modules.empty()) return input_error("'{}' holds no module", path);
  begin = modules.front();
  read_operations(begin);
  const auto found = std::ranges::find(operations_, kEntryPoint, &SpecOperation::symbol);
  if (found == operations_.end()) {
    const bool nests = text_.find("module", begin, text_[begin].partner) < text_[begin].partner;
    return input_error(
        "'{}' has no transform.named_sequence @{}, which is what the compiler runs of a spec{}",
        path, kEntryPoint, nests ? "; give the specs inside it as files of their own" : "");
  }
  entry_point_ = static_cast<std::size_t>(found - operations_.begin());
  return {};
}

void SpecFile::read_operations(std::size_t open) {
  const std::size_t close = text_[open].partner;
  const auto begins = [&](std::size_t i) {
    return (text_.is(i, Kind::kWord) &&
            (text_.at(i).find('.') != std::string_view::npos || is_module(text_.at(i)))) ||
           text_.is(i, Kind::kString);
  };
  for (std::size_t i = open + 1; i < close;) {
    SpecOperation operation{.symbol = "", .first = i};
    operation.is_sequence = text_.at(i) == "transform.named_sequence";
    std::size_t end = text_.behind(i);
    operation.body = 0;
    for (; end < close && !begins(end); end = text_.behind(end)) {
      if (text_.is(end, Kind::kSymbol) && operation.symbol.empty())
        operation.symbol = symbol_of(text_.at(end));
      // The last brace is the body: attributes stand before it.
      if (text_.at(end) == "{" && text_.at(end - 1) != "attributes") operation.body = end;
    }
    operation.last = end;
    if (operation.body == 0) operation.body = end;
    operations_.push_back(operation);
    i = end;
  }
}

Status SpecFile::read_pairs(const std::string& path) {
  const SpecOperation& entry = entry_point();
  for (std::size_t i = entry.body; i < entry.last; ++i) {
    if (text_.at(i) != "transform.foreach_match") continue;
    for (++i; i + 2 < entry.last && text_.at(i) != ":"; ++i) {
      if (!text_.is(i, Kind::kSymbol) || text_.at(i + 1) != "->" || !text_.is(i + 2, Kind::kSymbol))
        continue;
      pairs_.push_back({symbol_of(text_.at(i)), symbol_of(text_.at(i + 2)), i, i + 3});
      i += 2;
    }
  }
  if (pairs_.empty())
    return input_error("'{}' has no entry: @{} holds no transform.foreach_match with a pair", path,
                       kEntryPoint);
  for (const SpecPair& pair : pairs_)
    for (const std::string& symbol : {pair.matcher, pair.action})
      if (find(symbol) == nullptr)
        return input_error("{}:{}: @{} is not beside @{}", path, text_.line(pair.first), symbol,
                           kEntryPoint);
  return {};
}

const SpecOperation* SpecFile::find(const std::string& symbol) const {
  const auto found = std::ranges::find(operations_, symbol, &SpecOperation::symbol);
  return found != operations_.end() ? &*found : nullptr;
}

}  // namespace hone::iree
