// Cells of times and numbers that may be unknown.
#pragma once

#include <fmt/format.h>

#include <optional>
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

}  // namespace hone::output
