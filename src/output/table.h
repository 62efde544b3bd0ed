// Tables for people: one list of columns and rows gives the aligned text, CSV and JSON.
#pragma once

#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace hone::output {

enum class Align { kLeft, kRight };

struct Column {
  std::string key;    // in CSV and JSON: "speedup"
  std::string title;  // on the screen: "speed-up"
  Align align = Align::kLeft;
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
  // Renders CSV (RFC 4180): a heading of keys, fields quoted where needed.
  std::string to_csv() const;
  // Returns an object per row.
  nlohmann::json to_json() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace hone::output
