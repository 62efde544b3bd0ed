// Copies the readable part of a damaged store. Ids are kept, and every row is looked up by its id.
// A damaged page of a table therefore costs only the rows on it.
#include <algorithm>
#include <memory>
#include <system_error>

#include "store/blobs.h"
#include "store/schema.h"
#include "store/store.h"
#include "store/tables.h"

namespace hone::store {
namespace {

// Artifacts are looked up by their candidate's id, rows of other tables by their own.
std::string id_column(const Table& table) {
  if (table.has_id) return "id";
  return table.name == "artifact" ? "candidate_id" : "";
}

class Rescue {
 public:
  explicit Rescue(Database& database) : database_(database) {}

  Result<RescueReport> run() {
    RescueReport report;
    HONE_ASSIGN(const std::vector<Table> order, tables());
    for (const Table& table : order) {
      HONE_TRY(copy(table));
      if (table.name == "blob") HONE_TRY(drop_changed_blobs());
      HONE_ASSIGN(const std::int64_t saved, count("main", table));
      if (table.name == "blob") {
        HONE_ASSIGN(lost_source_, intern_blob(database_, ""));
      }
      RescuedRows& rows = report[table.name];
      rows.saved = saved;
      if (const auto all = count_damaged(table))
        rows.lost = std::max<std::int64_t>(0, *all - saved);
    }
    HONE_TRY(database_.execute(
        "DELETE FROM main.blob WHERE id = ?1 "
        "AND NOT EXISTS (SELECT 1 FROM main.dispatch WHERE source_id = ?1) "
        "AND NOT EXISTS (SELECT 1 FROM main.artifact WHERE code_id = ?1) "
        "AND NOT EXISTS (SELECT 1 FROM main.program_measurement WHERE spec_id = ?1)",
        lost_source_));
    return report;
  }

 private:
  // Copies the rows of `table` that meet `condition`; false if the file cannot be read there.
  Result<bool> copy_where(const Table& table, const std::string& condition) {
    std::vector<std::string> columns, values;
    if (table.has_id) columns.emplace_back("id"), values.emplace_back("theirs.id");
    for (const std::string& column : table.columns) {
      columns.emplace_back(column);
      values.push_back(fmt::format("theirs.{}", column));
    }
    for (const Reference& reference : table.references) {
      columns.emplace_back(reference.column);
      std::string value = fmt::format("(SELECT id FROM main.{} WHERE id = theirs.{})",
                                      reference.table, reference.column);
      if (reference.column == "source_id")
        value = fmt::format("coalesce({}, {})", value, lost_source_);
      values.push_back(value);
    }
    // A reference to a lost row becomes NULL, breaks NOT NULL, and so skips the row.
    const Status copied = database_.execute(
        fmt::format("INSERT OR IGNORE INTO main.{0} ({1}) SELECT {2} FROM damaged.{0} AS theirs "
                    "NOT INDEXED {3}",
                    table.name, fmt::join(columns, ", "), fmt::join(values, ", "), condition));
    if (copied) return true;
    if (copied.error().kind != ErrorKind::kInput) return tl::unexpected(copied.error());
    return false;
  }

  Status copy(const Table& table) {
    // The condition keeps SQLite from copying cells as they are, which could leave half of a large
    // one.
    HONE_ASSIGN(const bool whole, copy_where(table, "WHERE true"));
    if (whole) return {};
    const std::string id = id_column(table);
    if (!id.empty()) {
      const Id last = last_id(table, id);
      for (Id row = 1; row <= last; ++row)
        HONE_TRY(copy_where(table, fmt::format("WHERE theirs.{} = {}", id, row)));
      return {};
    }
    // Copy by owner: rows without an id are stored together, grouped by the row they belong to.
    const auto owner = std::ranges::find(table.references, table.key.front(), &Reference::column);
    if (owner == table.references.end()) return {};
    HONE_ASSIGN(const auto last, database_.find<Id>(fmt::format(
                                     "SELECT coalesce(max(id), 0) FROM main.{}", owner->table)));
    for (Id row = 1; row <= last.value_or(0); ++row)
      HONE_TRY(copy_where(table, fmt::format("WHERE theirs.{} = {}", owner->column, row)));
    return {};
  }

  // Returns the greatest id that an index or the table itself still has.
  Id last_id(const Table& table, const std::string& id) {
    Id last = 0;
    // Rows read before an error count.
    const auto look = [&](const std::string& sql) {
      (void)database_.each<Id>(sql, [&](Id row) -> Status {
        last = std::max(last, row);
        return {};
      });
    };
    for (const std::string& index : indexes(table))
      look(fmt::format("SELECT {} FROM damaged.{} INDEXED BY \"{}\"", id, table.name, index));
    look(fmt::format("SELECT {0} FROM damaged.{1} NOT INDEXED ORDER BY {0}", id, table.name));
    look(fmt::format("SELECT {0} FROM damaged.{1} NOT INDEXED ORDER BY {0} DESC", id, table.name));
    return last;
  }

  // Returns the indexes that hold every row of the table.
  std::vector<std::string> indexes(const Table& table) {
    std::vector<std::string> names;
    (void)database_.each<std::string>(
        "SELECT name FROM damaged.sqlite_schema WHERE type = 'index' AND tbl_name = ? "
        "AND coalesce(sql, '') NOT LIKE '% WHERE %'",
        [&](std::string& name) -> Status {
          names.push_back(std::move(name));
          return {};
        },
        table.name);
    return names;
  }

  Result<std::int64_t> count(std::string_view schema, const Table& table,
                             const std::string& how = "NOT INDEXED") {
    HONE_ASSIGN(const auto row, database_.find<std::int64_t>(fmt::format(
                                    "SELECT count(*) FROM {}.{} {}", schema, table.name, how)));
    return row.value_or(0);
  }

  std::optional<std::int64_t> count_damaged(const Table& table) {
    if (const auto rows = count("damaged", table)) return *rows;
    for (const std::string& index : indexes(table))
      if (const auto rows = count("damaged", table, fmt::format("INDEXED BY \"{}\"", index)))
        return *rows;
    return std::nullopt;
  }

  // Deletes blobs that differ from what was stored.
  Status drop_changed_blobs() {
    HONE_ASSIGN(const auto last, database_.find<Id>("SELECT coalesce(max(id), 0) FROM main.blob"));
    for (Id blob = 1; blob <= last.value_or(0); ++blob)
      if (!load_blob(database_, blob))
        HONE_TRY(database_.execute("DELETE FROM main.blob WHERE id = ?", blob));
    return {};
  }

  Database& database_;
  Id lost_source_ = 0;  // the blob that stands for a lost source
};

// Attaches the damaged file at `uri` to a database with a fresh schema, and copies from it.
Result<RescueReport> rescue_into(Database& database, const std::string& uri) {
  HONE_TRY(database.script("PRAGMA cell_size_check = ON; PRAGMA foreign_keys = ON"));
  HONE_TRY(migrate(database));
  database.expect_damage();
  HONE_TRY(database.execute("ATTACH DATABASE ? AS damaged", uri));
  // No surrounding transaction: one that has met a damaged page reads nothing more (SQLite 3.40).
  Result<RescueReport> report = Rescue(database).run();
  const Status detached = database.script("DETACH DATABASE damaged");
  if (report && !detached) return tl::unexpected(detached.error());
  return report;
}

}  // namespace

Result<RescueReport> Store::rescue(const std::filesystem::path& damaged,
                                   const std::filesystem::path& into) {
  HONE_ASSIGN(const Store source, Store::open(damaged, Mode::kReadOnly));
  std::error_code code;
  if (std::filesystem::exists(into, code))
    return input_error("'{}' exists already: name a file to be made", into.string());
  Result<RescueReport> report = [&]() -> Result<RescueReport> {
    HONE_ASSIGN(const Store fresh, Store::open(into, Mode::kReadWrite));
    return rescue_into(*fresh.database_, source.database_->uri());
  }();
  if (!report)  // no half of a store is left behind
    for (const char* end : {"", "-wal", "-shm", "-journal"})
      std::filesystem::remove(into.string() + end, code);
  return report;
}

Result<RescueReport> Store::rescuable() {
  HONE_ASSIGN(const std::unique_ptr<Database> fresh,
              Database::open(":memory:", Database::Access::kReadWriteCreate, {}));
  return rescue_into(*fresh, database_->uri());
}

}  // namespace hone::store
