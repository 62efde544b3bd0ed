#include "profiler/dispatch_filter.h"

#include <fmt/format.h>

#include <algorithm>

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

// Names of dispatches are long and end alike, so those that begin as the pattern does are nearer
// than those a few letters away from it; a slip early in the pattern is found by the latter.
std::string nearest_dispatches(std::string_view pattern, const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 3;
  const auto common = [pattern](const std::string& name) {
    return static_cast<std::size_t>(std::ranges::mismatch(pattern, name).in1 - pattern.begin());
  };
  std::size_t longest = 0;
  for (const std::string& name : names) longest = std::max(longest, common(name));
  const std::string near = did_you_mean(pattern, names);
  if (longest == 0 || (2 * longest < pattern.size() && !near.empty())) return near;
  std::vector<std::string> nearest;
  for (const std::string& name : names)
    if (nearest.size() < kMost && common(name) == longest) nearest.push_back(name);
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
  std::vector<std::string> texts;
  for (const Pattern& pattern : patterns_) texts.push_back(pattern.text);
  return texts;
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
