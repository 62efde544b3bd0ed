// Reads and writes rows by the column list (columns.h). Private to this folder.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "store/columns.h"
#include "store/encoding.h"

namespace hone::store {

// Calls `visit` with each column of the row's table, in order.
template <class Row, class Visit>
constexpr void for_each_column(Visit&& visit) {
  std::apply([&](const auto&... columns) { (visit(columns), ...); }, kTable<Row>.columns);
}

// Returns the row's fields of the columns that IsWanted takes, by reference.
template <class IsWanted, class Row>
auto tie_fields(Row& row) {
  const auto field_of =
      [&]<Filled kFilled, class Field>(const TableColumn<kFilled, Field>& column) {
        if constexpr (IsWanted()(kFilled))
          return std::tie(std::invoke(column.field, row));
        else
          return std::tuple();
      };
  return std::apply([&](const auto&... columns) { return std::tuple_cat(field_of(columns)...); },
                    kTable<std::remove_const_t<Row>>.columns);
}
inline constexpr auto kIsRead = [](Filled filled) { return filled != Filled::kHidden; };
inline constexpr auto kIsWritten = [](Filled filled) { return filled == Filled::kByCaller; };

template <class Row>
requires requires {
  kTable<Row>.name;
}
auto fields_of(Row& row) {
  return tie_fields<decltype(kIsRead)>(row);
}

// A row with one column more.
template <class Row, class More>
auto fields_of(std::pair<Row, More>& row) {
  return std::tuple_cat(fields_of(row.first), std::tie(row.second));
}

// Returns "SELECT ... FROM ... " for fields_of() and the columns in `more`: ", spec_id".
template <class Row>
std::string select_sql(std::string_view more = {}) {
  std::vector<std::string> names;
  for_each_column<Row>([&]<Filled kFilled, class Field>(const TableColumn<kFilled, Field>& column) {
    if constexpr (kIsRead(kFilled))
      names.push_back(std::string(column.name) +
                      (kFilled == Filled::kPresence ? " IS NOT NULL" : ""));
  });
  return fmt::format("SELECT {}{} FROM {} ", fmt::join(names, ", "), more, kTable<Row>.name);
}

// `tail` is what follows the table: "WHERE candidate_id = ? ORDER BY id".
template <class Row, class... Arguments>
Result<std::vector<Row>> select_all(Database& database, std::string_view tail,
                                    const Arguments&... arguments) {
  return database.all<Row>(select_sql<Row>().append(tail), arguments...);
}

template <class Row, class... Arguments>
Result<std::optional<Row>> select_first(Database& database, std::string_view tail,
                                        const Arguments&... arguments) {
  return database.find<Row>(select_sql<Row>().append(tail) + " LIMIT 1", arguments...);
}

// Returns the row; an input error, which calls the row `name`, if there is none.
template <class Row>
Result<Row> select_id(Database& database, std::string_view name, Id id) {
  HONE_ASSIGN(std::optional<Row> row, select_first<Row>(database, "WHERE id = ?", id));
  if (!row) return input_error("the store '{}' has no {} {}", database.path().string(), name, id);
  return *std::move(row);
}

// Columns that the store fills, named in the order of the arguments behind them: "created, run_id".
struct StoreColumns {
  std::string_view names = {};
  std::string_view verb = "INSERT";
};
inline constexpr StoreColumns kCreatedInRun = {"created, run_id"};

// Inserts the row, with a random uid where the table has one, and returns its id.
template <class Row, class... Arguments>
Result<Id> insert(Database& database, const Row& row, const StoreColumns& more = {},
                  const Arguments&... arguments) {
  std::vector<std::string_view> names, values;
  for_each_column<Row>([&]<Filled kFilled, class Field>(const TableColumn<kFilled, Field>& column) {
    if (!kIsWritten(kFilled) && column.name != kUid.name) return;
    names.push_back(column.name);
    values.push_back(kIsWritten(kFilled) ? "?" : "lower(hex(randomblob(16)))");
  });
  if (!more.names.empty()) names.push_back(more.names);
  values.insert(values.end(), sizeof...(arguments), "?");
  const std::string sql = fmt::format("{} INTO {} ({}) VALUES ({})", more.verb, kTable<Row>.name,
                                      fmt::join(names, ", "), fmt::join(values, ", "));
  return std::apply(
      [&](const auto&... fields) -> Result<Id> {
        HONE_TRY(database.execute(sql, fields..., arguments...));
        return database.last_id();
      },
      tie_fields<decltype(kIsWritten)>(row));
}

}  // namespace hone::store
