#include "output/table.h"

#include <fmt/format.h>

#include <algorithm>

namespace hone::output {
namespace {

std::string plain(const nlohmann::json& value) {
  if (value.is_null()) return "";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string shown(const Cell& cell) {
  return cell.text.empty() ? plain(cell.value) : cell.text;
}

// Returns the columns that a UTF-8 text takes on a terminal: one per code point holds for all that
// hone prints.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

}  // namespace

std::string Table::to_text() const {
  std::vector<std::size_t> widths;
  for (const Column& column : columns_) widths.push_back(width_of(column.title));
  for (const auto& row : rows_)
    for (std::size_t c = 0; c < row.size(); ++c)
      widths[c] = std::max(widths[c], width_of(shown(row[c])));

  const auto line = [&](auto&& text_of) {
    std::string out;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (!columns_[c].on_screen) continue;
      const std::string text = text_of(c);
      const std::string padding(widths[c] - width_of(text), ' ');
      if (c > 0) out += "  ";
      out += columns_[c].align == Align::kRight ? padding + text : text + padding;
    }
    out.erase(out.find_last_not_of(' ') + 1);
    return out + '\n';
  };
  std::string out = line([&](std::size_t c) { return columns_[c].title; });
  for (const auto& row : rows_) out += line([&](std::size_t c) { return shown(row[c]); });
  return out;
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
