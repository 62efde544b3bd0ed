#include "base/common_reason.h"

#include <fmt/format.h>

#include <algorithm>

namespace hone {
namespace {

bool is_digit(char letter) {
  return letter >= '0' && letter <= '9';
}

// A line of a screen.
constexpr std::size_t kMostLetters = 160;

}  // namespace

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
