// Tables for people: one list of columns and rows gives the aligned text, CSV and JSON. Cells hold
// times and numbers that may be unknown, and texts that span several lines.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace hone::output {

enum class Align { kLeft, kRight };
using enum Align;

struct Column {
  std::string key;    // in CSV and JSON: "speedup"
  std::string title;  // on the screen: "speed-up"
  Align align = kLeft;
  bool on_screen = true;  // false: in CSV and JSON only
};

struct Cell {
  nlohmann::json value;  // in CSV and JSON; null where unknown
  std::string text;      // on the screen; the value's own text when empty
};

class Table {
 public:
  static constexpr std::size_t kWhole = std::numeric_limits<std::size_t>::max();

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // Adds a row; cells in the order of the columns.
  void add(std::vector<Cell> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const { return rows_.empty(); }
  std::size_t size() const { return rows_.size(); }
  // Returns the table with at most its first `count` rows.
  Table first(std::size_t count) const;

  // Renders aligned columns with a heading; lines end in a newline, without trailing blanks. Where
  // they take more than `width` columns, texts are cut in the middle. Then the last columns are
  // hidden, so that the most important ones come first.
  std::string to_text(std::size_t width = kWhole) const;
  // Renders the first `count` rows, then how many more there are: "3 more (--json)", where `hint`
  // says how to see them.
  std::string first_text(std::size_t count, std::size_t width, std::string_view hint = "") const;
  // Renders CSV (RFC 4180): a heading of keys, fields quoted where needed.
  std::string to_csv() const;
  // Returns an object per row.
  nlohmann::json to_json() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

// Renders a count with thousands separated by commas.
inline std::string counted(std::int64_t number) {
  return format_count(static_cast<std::uint64_t>(number));
}

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
