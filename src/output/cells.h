// Table cells of times and numbers that may be unknown, and of texts that span several lines.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "base/text.h"
#include "output/table.h"

namespace hone::output {

inline Cell time_cell(std::optional<double> seconds) {
  if (!seconds) return {nullptr, "-"};
  return {*seconds, format_duration(*seconds)};
}

inline Cell number_cell(std::optional<double> value, std::string_view unit, int digits) {
  if (!value) return {nullptr, "-"};
  return {*value, fmt::format("{:.{}f}{}", *value, digits, unit)};
}

// Names the provider of a kernel, without the version behind "@" ("triton@3.6.0"). Providers whose
// kernels replace the compiler's have one.
inline Cell maker_cell(std::string_view provider) {
  return {std::string(provider), std::string(provider.substr(0, provider.find('@')))};
}

// Returns the first line of a compiler's error, at most `most` characters of it. If that line only
// introduces the next ("IREE cannot compile 'x':"), the next is appended.
inline std::string in_one_line(std::string_view text, std::size_t most = 160) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string line(text.substr(0, end));
  if (line.ends_with(':') && end < text.size()) {
    std::string_view next = text.substr(end + 1);
    next.remove_prefix(std::min(next.find_first_not_of(" \n"), next.size()));
    line += fmt::format(" {}", next.substr(0, next.find('\n')));
  }
  return line.size() <= most ? line : line.substr(0, most) + "...";
}

}  // namespace hone::output
