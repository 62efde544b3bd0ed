#include "profiler/dispatch_filter.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ranges.h"
#include "base/text.h"

namespace hone::profiler {
namespace {

bool is_plain(std::string_view pattern) {
  return std::ranges::all_of(pattern, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '*';
  });
}

std::vector<std::string> split_patterns(std::string_view text) {
  std::vector<std::string> patterns(1);
  int depth = 0;
  bool escaped = false;
  for (const char c : text) {
    if (c == ',' && depth == 0 && !escaped) {
      patterns.emplace_back();
      continue;
    }
    if (!escaped && (c == '(' || c == '[' || c == '{')) ++depth;
    if (!escaped && (c == ')' || c == ']' || c == '}')) depth = std::max(0, depth - 1);
    escaped = !escaped && c == '\\';
    patterns.back() += c;
  }
  return patterns;
}

std::vector<std::string> pieces_of(std::string_view pattern) {
  std::vector<std::string> pieces(1);
  for (const char c : pattern) {
    if (c == '*')
      pieces.emplace_back();
    else
      pieces.back() += c;
  }
  return pieces;
}

bool has_in_order(std::string_view name, const std::vector<std::string>& pieces) {
  for (const std::string& piece : pieces) {
    const std::size_t at = name.find(piece);
    if (at == std::string_view::npos) return false;
    name.remove_prefix(at + piece.size());
  }
  return true;
}

// Returns the longest literal word of the pattern.
std::string longest_word(std::string_view pattern) {
  std::string longest, word;
  for (const char c : pattern) {
    word = c != '*' && is_plain({&c, 1}) ? word + c : "";
    if (word.size() > longest.size()) longest = word;
  }
  return longest;
}

// Returns the length of the longest prefix of the word that occurs in the name.
std::size_t letters_in(std::string_view name, std::string_view word) {
  std::size_t letters = 0;
  while (letters < word.size() && name.find(word.substr(0, letters + 1)) != std::string_view::npos)
    ++letters;
  return letters;
}

// Suggests the nearest names. Dispatch names are long and alike, so names that contain most of the
// pattern's longest word count as nearer than those a few letters away. A typo early in that word
// is found by edit distance.
std::string nearest_dispatches(std::string_view pattern, const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 3;
  const std::string word = longest_word(pattern);
  std::size_t most = 0;
  for (const std::string& name : names) most = std::max(most, letters_in(name, word));
  const std::string near = 2 * most < word.size() ? did_you_mean(pattern, names) : "";
  if (most == 0 || !near.empty()) return near;
  std::vector<std::string> nearest;
  for (const std::string& name : names)
    if (nearest.size() < kMost && letters_in(name, word) == most) nearest.push_back(name);
  return fmt::format(" (did you mean '{}'?)", fmt::join(nearest, "' or '"));
}

}  // namespace

bool DispatchFilter::Pattern::fits(std::string_view name) const {
  if (const auto* pieces = std::get_if<std::vector<std::string>>(&form))
    return has_in_order(name, *pieces);
  return std::regex_search(name.begin(), name.end(), std::get<std::regex>(form));
}

Result<DispatchFilter> DispatchFilter::parse(std::string_view patterns) {
  DispatchFilter filter;
  if (patterns.empty() || patterns == "all") return filter;
  for (std::string& text : split_patterns(patterns)) {
    if (text.empty())
      return input_error("--dispatches '{}' has an empty pattern: one comma too many", patterns);
    if (is_plain(text)) {
      auto pieces = pieces_of(text);
      filter.patterns_.push_back({std::move(text), std::move(pieces)});
      continue;
    }
    try {
      std::regex expression(text, std::regex::ECMAScript | std::regex::optimize);
      filter.patterns_.push_back({std::move(text), std::move(expression)});
    } catch (const std::regex_error& error) {
      return input_error("--dispatches '{}' is no regular expression: {}", text, error.what());
    }
  }
  return filter;
}

bool DispatchFilter::matches(std::string_view dispatch) const {
  return patterns_.empty() ||
         std::ranges::any_of(patterns_, [&](const Pattern& each) { return each.fits(dispatch); });
}

std::vector<std::string> DispatchFilter::patterns() const {
  return mapped(patterns_, &Pattern::text);
}

Status DispatchFilter::check_all_match(const std::vector<std::string>& dispatches) const {
  for (const Pattern& pattern : patterns_) {
    if (std::ranges::any_of(dispatches, [&](const auto& name) { return pattern.fits(name); }))
      continue;
    return input_error("--dispatches: no dispatch of {} matches '{}'{}", dispatches.size(),
                       pattern.text, nearest_dispatches(pattern.text, dispatches));
  }
  return {};
}

}  // namespace hone::profiler
