#include "output/table.h"

#include <utility>

#include "output/screen.h"

namespace hone::output {
namespace {

constexpr std::size_t kGap = 2;  // blanks between columns

std::string plain(const nlohmann::json& value) {
  if (value.is_null()) return "";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string shown(const Cell& cell) {
  return cell.text.empty() ? plain(cell.value) : cell.text;
}

// Least width that a text column is cut to before columns are hidden, and the least of all.
constexpr std::size_t kLeastText = 24, kLeastOfAll = 12;
// First columns of a table, for which texts are cut to kLeastOfAll.
constexpr std::size_t kMostImportant = 4;

struct ShownColumn {
  std::size_t index = 0, width = 0;
  bool is_text = false;
};

std::size_t total_width(const std::vector<ShownColumn>& columns) {
  std::size_t total = columns.empty() ? 0 : kGap * (columns.size() - 1);
  for (const ShownColumn& column : columns) total += column.width;
  return total;
}

// Narrows the widest text columns, none below `least`, until the table takes `width` columns.
void narrow(std::vector<ShownColumn>& columns, std::size_t width, std::size_t least) {
  for (std::size_t total = total_width(columns); total > width; --total) {
    const auto widest = std::ranges::max_element(
        columns, {}, [](const ShownColumn& each) { return each.is_text ? each.width : 0; });
    if (widest == columns.end() || !widest->is_text || widest->width <= least) return;
    --widest->width;
  }
}

// Fits the table into `width` columns: texts are cut, and the last columns are hidden.
void fit(std::vector<ShownColumn>& columns, std::size_t width) {
  const std::pair<std::size_t, std::size_t> steps[] = {{kLeastText, kMostImportant},
                                                       {kLeastOfAll, 1}};
  for (const auto& [least, kept] : steps) {
    narrow(columns, width, least);
    while (columns.size() > kept && total_width(columns) > width) columns.pop_back();
  }
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

}  // namespace

std::string Table::to_text(std::size_t width) const {
  std::vector<ShownColumn> columns;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (!columns_[c].on_screen) continue;
    ShownColumn& column = columns.emplace_back(
        ShownColumn{c, width_of(columns_[c].title), columns_[c].align == kLeft});
    for (const auto& row : rows_) column.width = std::max(column.width, width_of(shown(row[c])));
  }
  fit(columns, width);
  const auto line = [&](auto&& text_of) {
    std::string out;
    for (const ShownColumn& column : columns) {
      const std::string text = cut_in_middle(text_of(column.index), column.width);
      const std::string padding(column.width - width_of(text), ' ');
      if (&column != &columns.front()) out.append(kGap, ' ');
      out += column.is_text ? text + padding : padding + text;
    }
    out.erase(out.find_last_not_of(' ') + 1);
    return out + '\n';
  };
  std::string out = line([&](std::size_t c) { return columns_[c].title; });
  for (const auto& row : rows_) out += line([&](std::size_t c) { return shown(row[c]); });
  return out;
}

Table Table::first(std::size_t count) const {
  Table some(columns_);
  some.rows_.assign(rows_.begin(),
                    rows_.begin() + static_cast<std::ptrdiff_t>(std::min(count, rows_.size())));
  return some;
}

std::string Table::first_text(std::size_t count, std::size_t width, std::string_view hint) const {
  const std::string text = first(count).to_text(width);
  return size() <= count ? text : text + fmt::format("{} more{}\n", size() - count, hint);
}

std::string Table::to_csv() const {
  std::vector<std::string> fields;
  for (const Column& column : columns_) fields.push_back(csv_field(column.key));
  std::string out = fmt::format("{}\r\n", fmt::join(fields, ","));
  for (const auto& row : rows_) {
    fields.clear();
    for (const Cell& cell : row) fields.push_back(csv_field(plain(cell.value)));
    out += fmt::format("{}\r\n", fmt::join(fields, ","));
  }
  return out;
}

nlohmann::json Table::to_json() const {
  nlohmann::json rows = nlohmann::json::array();
  for (const auto& row : rows_) {
    nlohmann::json object;
    for (std::size_t c = 0; c < row.size(); ++c) object[columns_[c].key] = row[c].value;
    rows.push_back(std::move(object));
  }
  return rows;
}

}  // namespace hone::output
