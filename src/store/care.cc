// Checks the file, and frees the space of unneeded data.
#include <algorithm>
#include <system_error>

#include "store/encoding.h"
#include "store/schema.h"
#include "store/store.h"

namespace hone::store {
namespace {

Status add_damaged_tables(Database& database, CheckReport& report) {
  report.damage = database.damage();
  return {};
}

// Pages that belong to no table.
Status add_integrity(Database& database, CheckReport& report) {
  if (!report.damage.empty()) return {};
  HONE_ASSIGN(report.damage,
              database.all<std::string>("SELECT integrity_check FROM pragma_integrity_check "
                                        "WHERE integrity_check <> 'ok'"));
  return {};
}

Status add_missing_columns(Database& database, CheckReport& report) {
  for (const TableSchema& table : tables()) {
    HONE_ASSIGN(const std::vector<std::string> present,
                database.all<std::string>("SELECT name FROM pragma_table_info(?)", table.name));
    for (const ColumnSchema& column : table.columns)
      if (std::ranges::find(present, column.name) == present.end())
        report.damage.push_back(fmt::format("{}.{} is missing", table.name, column.name));
  }
  return {};
}

Status add_foreign_keys(Database& database, CheckReport& report) {
  using Broken = std::tuple<std::string, std::int64_t, std::string>;
  return database.each<Broken>("PRAGMA foreign_key_check", [&](const Broken& broken) -> Status {
    const auto& [table, row, parent] = broken;
    report.damage.push_back(
        fmt::format("row {} of {} refers to a row of {} that is not there", row, table, parent));
    return {};
  });
}

Status add_blobs(Database& database, CheckReport& report) {
  BlobReader reader;
  return database.each<Id>("SELECT id FROM blob", [&](Id id) -> Status {
    if (!reader.load(database, id))
      report.damage.push_back(fmt::format("blob {} is not what was stored", id));
    return {};
  });
}

Status add_json(Database& database, CheckReport& report) {
  for (const TableSchema& table : tables())
    for (const auto& [name, type, declared] : table.columns) {
      if (!declared.json) continue;
      HONE_ASSIGN(const auto broken,
                  database.find<std::int64_t>(fmt::format(
                      "SELECT count(*) FROM {} WHERE NOT json_valid({})", table.name, name)));
      if (const std::int64_t rows = broken.value_or(0); rows > 0)
        report.damage.push_back(
            fmt::format("{} of {} is not JSON in {} rows", name, table.name, rows));
    }
  return {};
}

}  // namespace

Result<CheckReport> Store::check(Checked checked) {
  CheckReport report;
  for (const auto& step : {add_damaged_tables, add_integrity, add_missing_columns, add_foreign_keys,
                           add_blobs, add_json}) {
    if (checked == Checked::kRows && step == add_integrity) continue;
    const Status status = step(*database_, report);
    // SQLite stops where it cannot go on. That is a finding too, and later steps may find more.
    if (!status && status.error().kind == ErrorKind::kEnvironment)
      return tl::unexpected(status.error());
    if (!status) report.damage.push_back(status.error().message);
  }
  return report;
}

Result<std::int64_t> Store::gc() {
  std::error_code code;
  HONE_TRY(database_->script("PRAGMA wal_checkpoint(TRUNCATE)"));
  const auto before = static_cast<std::int64_t>(std::filesystem::file_size(path(), code));
  const Status removed = write(*database_, [&]() -> Status {
    HONE_TRY(
        database_->execute("UPDATE artifact SET code_id = NULL WHERE candidate_id NOT IN ("
                           "  SELECT id FROM candidate WHERE configuration = ?"
                           "  UNION SELECT winner_id FROM selection WHERE winner_id IS NOT NULL"
                           "  UNION SELECT candidate_id FROM selection_tie"
                           "  UNION SELECT artifact.candidate_id FROM artifact "
                           "        JOIN measurement ON measurement.identity = artifact.identity "
                           "        WHERE measurement.phase <> 'search')",
                           kDefaultConfiguration));
    return database_->execute(fmt::format("DELETE FROM blob WHERE id NOT IN ({})", blobs_in_use()));
  });
  HONE_TRY(removed);
  HONE_TRY(database_->script("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)"));
  return before - static_cast<std::int64_t>(std::filesystem::file_size(path(), code));
}

}  // namespace hone::store
