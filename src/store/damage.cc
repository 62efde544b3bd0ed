#include "store/damage.h"

#include <fmt/format.h>
#include <sqlite3.h>

namespace hone::store {
namespace {

// Returns the texts of the first column, up to an error if there is one.
std::vector<std::string> texts(sqlite3* database, const std::string& sql) {
  std::vector<std::string> found;
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database, sql.c_str(), -1, &statement, nullptr) != SQLITE_OK) return found;
  while (sqlite3_step(statement) == SQLITE_ROW)
    if (const auto* text = sqlite3_column_text(statement, 0))
      found.emplace_back(reinterpret_cast<const char*>(text));
  sqlite3_finalize(statement);
  return found;
}

}  // namespace

std::vector<std::string> damage_by_table(sqlite3* database, int most) {
  std::vector<std::string> damage;
  for (const std::string& table :
       texts(database, "SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0")) {
    int findings = 0;
    for (std::string line : texts(database, fmt::format("PRAGMA integrity_check(\"{}\")", table))) {
      // The first finding comes with a heading: "*** in database main ***".
      if (line.rfind("***", 0) == 0) line.erase(0, line.find('\n') + 1);
      if (line != "ok" && findings++ < most)
        damage.push_back(fmt::format("table {}: {}", table, line));
    }
  }
  return damage;
}

}  // namespace hone::store
