// Reading rows of rows.h: which columns, from which table, into which fields. Private to this
// folder.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/rows.h"
#include "store/sqlite.h"

namespace hone::store {

// A row type's SELECT up to its WHERE, its name in messages, and its reader.
template <class Row>
struct RowSelect;

#define HONE_SELECTED(Row)                                    \
  template <>                                                 \
  struct RowSelect<Row> {                                     \
    static const std::string_view kName;                      \
    static const std::string_view kSql;                       \
    static Status read(const Statement& statement, Row& row); \
  }
HONE_SELECTED(Build);
HONE_SELECTED(Device);
HONE_SELECTED(Operation);
HONE_SELECTED(Program);
HONE_SELECTED(Run);
HONE_SELECTED(Candidate);
HONE_SELECTED(Artifact);
HONE_SELECTED(Failure);
HONE_SELECTED(VerificationRow);
HONE_SELECTED(Measurement);
#undef HONE_SELECTED

// `tail` is what follows the table: "WHERE candidate_id = ? ORDER BY id".
template <class Row, class... Arguments>
Result<std::vector<Row>> select_all(Database& database, std::string_view tail,
                                    const Arguments&... arguments) {
  const std::string sql = std::string(RowSelect<Row>::kSql) + " " + std::string(tail);
  HONE_ASSIGN(Statement statement, database.query(sql, arguments...));
  std::vector<Row> rows;
  while (true) {
    HONE_ASSIGN(const bool found, statement.step());
    if (!found) return rows;
    HONE_TRY(RowSelect<Row>::read(statement, rows.emplace_back()));
  }
}

template <class Row, class... Arguments>
Result<std::optional<Row>> select_first(Database& database, std::string_view tail,
                                        const Arguments&... arguments) {
  HONE_ASSIGN(std::vector<Row> rows,
              select_all<Row>(database, std::string(tail) + " LIMIT 1", arguments...));
  if (rows.empty()) return std::nullopt;
  return std::move(rows.front());
}

// An input error where there is no such row.
template <class Row>
Result<Row> select_id(Database& database, Id id) {
  HONE_ASSIGN(std::optional<Row> row, select_first<Row>(database, "WHERE id = ?", id));
  if (!row)
    return input_error("the store '{}' has no {} {}", database.path().string(),
                       RowSelect<Row>::kName, id);
  return *std::move(row);
}

// Input errors for names that none has.
Result<Phase> phase_from(std::string_view name);
Result<RunState> run_state_from(std::string_view name);

}  // namespace hone::store
