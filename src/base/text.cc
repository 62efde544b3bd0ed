#include "base/text.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

namespace hone {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitute = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, substitute}));
    }
  }
  return row[b.size()];
}

std::string quoted(const std::string& argument) {
  if (!argument.empty() && argument.find_first_of(" \t\r\n\v\f\"'\\") == std::string::npos)
    return argument;
  std::string text = "\"";
  for (const char c : argument) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + '"';
}

bool is_digit(char letter) {
  return letter >= '0' && letter <= '9';
}

// A line of a screen.
constexpr std::size_t kMostLetters = 160;

}  // namespace

std::vector<std::string> nearest_names(std::string_view wanted,
                                       const std::vector<std::string>& names, std::size_t most) {
  std::vector<std::pair<std::size_t, std::string>> ranked;
  for (const std::string& name : names) {
    const std::size_t distance = edit_distance(wanted, name);
    const std::size_t slip = std::max<std::size_t>(2, std::max(wanted.size(), name.size()) / 3);
    const bool contains = wanted.size() >= 3 && name.find(wanted) != std::string::npos;
    if (distance <= slip || contains) ranked.emplace_back(contains ? 1 : distance, name);
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> nearest;
  for (auto& [distance, name] : ranked)
    if (nearest.size() < most) nearest.push_back(std::move(name));
  return nearest;
}

std::string did_you_mean(std::string_view wanted, const std::vector<std::string>& names) {
  const std::vector<std::string> nearest = nearest_names(wanted, names);
  if (nearest.empty()) return "";
  return fmt::format(" (did you mean '{}'?)", fmt::join(nearest, "' or '"));
}

bool matches_pattern(std::string_view name, std::string_view pattern) {
  // Greedy with one point of return: on a mismatch the last '*' takes another character.
  std::size_t n = 0, p = 0, star = std::string_view::npos, taken = 0;
  while (n < name.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n]) && pattern[p] != '*') {
      ++n, ++p;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++taken;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

std::string readable(std::string_view bytes) {
  using nlohmann::json;
  const json quoted(bytes);
  return json::parse(quoted.dump(-1, ' ', false, json::error_handler_t::replace))
      .get<std::string>();
}

std::string format_duration(double seconds) {
  struct Unit {
    double seconds;
    std::string_view name;
  };
  static constexpr Unit kUnits[] = {
      {60, "min"}, {1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}};
  // A time that rounds to 1000 of a unit at three digits is shown as 1 of the next.
  constexpr double kRoundsUp = 0.9995;
  for (const Unit& unit : kUnits)
    if (std::abs(seconds) >= unit.seconds * (unit.seconds > 1 ? 1 : kRoundsUp) ||
        unit.seconds == 1e-9)
      return fmt::format("{:.3g} {}", seconds / unit.seconds, unit.name);
  return "";
}

std::string format_count(std::uint64_t count) {
  std::string digits = std::to_string(count);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

std::string shell_word(std::string_view word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos)
    return std::string(word);
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

std::string response_file(const std::vector<std::string>& arguments) {
  std::string text;
  for (const std::string& argument : arguments) text += quoted(argument) + "\n";
  return text;
}

std::string_view reason_of(std::string_view message) {
  constexpr std::string_view kNowhere =
      "loc(unknown): ";  // MLIR, of what no line of the user's has
  if (message.starts_with(kNowhere)) message.remove_prefix(kNowhere.size());
  return message.substr(0, message.find('\n'));
}

std::string without_numbers(std::string_view reason) {
  std::string text;
  for (const char letter : reason) {
    if (!is_digit(letter))
      text += letter;
    else if (text.empty() || text.back() != '#')
      text += '#';
  }
  return text;
}

void CommonReason::add(std::string_view kind, std::string_view message) {
  const std::string_view reason = reason_of(message).substr(0, kMostLetters);
  std::string words(reason.empty() ? kind : reason);
  if (!reason.empty() && kind != "compile error") words = fmt::format("{}: {}", kind, reason);
  ++all_;
  Group& group = groups_[without_numbers(words)];
  ++group.count;
  ++group.words[words];
}

std::string CommonReason::words() const {
  if (groups_.empty()) return {};
  const Group& group = std::ranges::max_element(groups_, {}, [](const auto& each) {
                         return each.second.count;
                       })->second;
  const auto most =
      std::ranges::max_element(group.words, {}, [](const auto& each) { return each.second; });
  return fmt::format("{} of {} failed candidates: {}", group.count, all_, most->first);
}

}  // namespace hone
