#include "profiler/source_functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <set>

namespace hone::profiler {
namespace {

bool is_in_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '-';
}

// Returns the "#NAME" at the beginning of `text`.
std::string_view alias_at(std::string_view text) {
  std::size_t end = 1;
  while (end < text.size() && is_in_name(text[end])) ++end;
  return text.substr(1, end - 1);
}

// Returns the aliases that the text defines: "#NAME = ..." at the beginning of a line.
std::set<std::string, std::less<>> aliases_of(std::string_view source) {
  std::set<std::string, std::less<>> aliases;
  for (std::size_t at = 0; at < source.size();) {
    const std::string_view rest = source.substr(at);
    if (rest.front() == '#') {
      const std::string_view name = alias_at(rest);
      if (rest.substr(1 + name.size()).starts_with(" =")) aliases.emplace(name);
    }
    const std::size_t end = rest.find('\n');
    at = end == std::string_view::npos ? source.size() : at + end + 1;
  }
  return aliases;
}

}  // namespace

std::string only_functions(std::string_view source, const std::vector<std::string>& names) {
  constexpr std::string_view kBegin = "func.func @", kEnd = "\n}\n";
  std::string kept;
  while (!source.empty()) {
    std::size_t begin = source.starts_with(kBegin) ? 0 : source.find("\n" + std::string(kBegin));
    if (begin == std::string_view::npos) break;
    if (begin != 0 || !source.starts_with(kBegin)) ++begin;
    const std::size_t close = source.find(kEnd, begin);
    const std::size_t end = close == std::string_view::npos ? source.size() : close + kEnd.size();
    std::string_view name = source.substr(begin + kBegin.size());
    name = name.substr(0, name.find('('));
    const bool keep = std::ranges::find(names, name) != names.end();
    kept += source.substr(0, keep ? end : begin);
    source.remove_prefix(end);
  }
  return kept.append(source);
}

std::string lowering_config_of(std::string_view source, std::string_view name) {
  constexpr std::string_view kBegin = "lowering_config = ", kEnd = "translation_info = ";
  const std::string alias = fmt::format("#{} = ", name);
  const std::size_t at = source.starts_with(alias) ? 0 : source.find("\n" + alias);
  if (at == std::string_view::npos) return "";
  source.remove_prefix(at);
  source = source.substr(0, source.find("\n\n"));
  const std::size_t begin = source.find(kBegin), end = source.find(kEnd);
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) return "";
  std::string text(source.substr(begin + kBegin.size(), end - begin - kBegin.size()));
  text.erase(text.find_last_of(',') == std::string::npos ? text.size() : text.find_last_of(','));
  return text;
}

std::string joined_sources(const std::vector<std::string>& sources) {
  std::string joined;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    std::string_view source = sources[i];
    const auto aliases = aliases_of(source);
    for (std::size_t at; (at = source.find('#')) != std::string_view::npos;) {
      joined += source.substr(0, at + 1);
      source.remove_prefix(at);
      const std::string_view name = alias_at(source);
      if (aliases.contains(name)) joined += fmt::format("file{}_", i);
      joined += name;
      source.remove_prefix(1 + name.size());
    }
    joined.append(source).append("\n");
  }
  return joined;
}

}  // namespace hone::profiler
