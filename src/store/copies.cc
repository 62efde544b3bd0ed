// Copies rows from one store to another: merges a store, and rescues a damaged one. Both go table
// by table, in order of their references.
#include <algorithm>
#include <deque>
#include <future>
#include <memory>
#include <span>
#include <system_error>
#include <thread>

#include "store/encoding.h"
#include "store/schema.h"
#include "store/store.h"

namespace hone::store {
namespace {

// Returns the tables that are copied: leases belong to running processes.
std::vector<TableSchema> copied_tables() {
  std::vector<TableSchema> all = tables();
  std::erase_if(all, [](const TableSchema& table) { return table.name == kTable<Lease>.name; });
  return all;
}

// Stores that are attached at once: SQLite's own limit is 10 (SQLITE_MAX_ATTACHED). They share a
// transaction, because a row's place in the indexes is random: each transaction writes most pages
// of them anew.
constexpr std::size_t kAttachedAtOnce = 8;
// KiB of pages that a merge keeps in memory, as SQLite's cache_size wants them. The indexes of
// 640,000 measured candidates fit.
constexpr std::int64_t kMergeCache = -256 * 1024;

// The other store's value of a column, its references turned into this store's ids.
std::string translated(const ColumnSchema& column) {
  if (column.declared.references.empty()) return fmt::format("other_row.{}", column.name);
  return fmt::format("(SELECT mine FROM temp.merged_{} WHERE theirs = other_row.{})",
                     column.declared.references, column.name);
}

// Adds the rows that only the other store has. A row is identified by its content, not by its id.
Result<std::int64_t> merge_table(Database& database, const TableSchema& table,
                                 std::string_view other) {
  std::vector<std::string_view> columns;
  std::vector<std::string> values, same;
  for (const ColumnSchema& column : table.columns) {
    const std::string value = translated(column);
    if (column.declared.key) same.push_back(fmt::format("main_row.{} = {}", column.name, value));
    if (&column == table.id() && table.gives_ids()) continue;  // of this store
    columns.push_back(column.name);
    values.push_back(value);
  }
  HONE_TRY(database.execute(fmt::format(
      "INSERT INTO main.{0} ({1}) SELECT {2} FROM {4}.{0} AS other_row WHERE NOT EXISTS "
      "(SELECT 1 FROM main.{0} AS main_row WHERE {3})",
      table.name, fmt::join(columns, ", "), fmt::join(values, ", "), fmt::join(same, " AND "),
      other)));
  const std::int64_t added = database.changed_rows();
  if (table.gives_ids()) {
    HONE_TRY(database.execute(fmt::format(
        "CREATE TEMP TABLE merged_{} (theirs INTEGER PRIMARY KEY, mine INTEGER NOT NULL)",
        table.name)));
    HONE_TRY(
        database.execute(fmt::format("INSERT INTO temp.merged_{0} SELECT other_row.id, main_row.id "
                                     "FROM {2}.{0} AS other_row JOIN main.{0} AS main_row ON {1}",
                                     table.name, fmt::join(same, " AND "), other)));
  }
  return added;
}

// Refuses a store that cannot be merged into the one at `into`.
Status check_other(const std::filesystem::path& other, const std::filesystem::path& into) {
  // Reports errors of the other file as opening it does.
  HONE_ASSIGN(Store source, Store::open(other, Mode::kReadOnly));
  std::error_code code;
  if (std::filesystem::equivalent(source.path(), into, code))
    return input_error("'{}' is the store to merge into: name another one", other.string());
  HONE_ASSIGN(const CheckReport report, source.check(Checked::kRows));
  if (report.ok()) return {};
  return input_error("the store '{0}' is damaged ({1}); 'hone store check {0}' says what else is",
                     other.string(), report.damage.front());
}

// Checks several at a time, and returns the error of the first that is refused.
Status check_others(const std::vector<std::filesystem::path>& others,
                    const std::filesystem::path& into) {
  const std::size_t together = std::clamp(std::thread::hardware_concurrency(), 1U, 8U);
  std::deque<std::future<Status>> checking;
  Status first;
  const auto take = [&] {
    const Status status = checking.front().get();
    checking.pop_front();
    if (first) first = status;
  };
  for (const std::filesystem::path& other : others) {
    if (checking.size() == together) take();
    if (!first) break;
    checking.push_back(std::async(std::launch::async, check_other, other, into));
  }
  while (!checking.empty()) take();
  return first;
}

// Adds the rows of the store that is attached as `other` to `added`.
Status merge_attached(Database& database, std::string_view other, MergeReport& added) {
  const std::vector<TableSchema> all = copied_tables();
  for (const TableSchema& table : all) {
    HONE_ASSIGN(const std::int64_t rows, merge_table(database, table, other));
    added[std::string(table.name)] += rows;
  }
  // A run that was in progress at the last merge may have ended since.
  HONE_TRY(database.execute(fmt::format(
      "UPDATE main.run SET state = theirs.state, ended = theirs.ended FROM {}.run AS theirs "
      "WHERE theirs.uid = main.run.uid AND main.run.state = 'running' "
      "AND theirs.state <> 'running'",
      other)));
  for (const TableSchema& table : all)
    if (table.gives_ids())
      HONE_TRY(database.execute(fmt::format("DROP TABLE temp.merged_{}", table.name)));
  return {};
}

// Merges the stores at these URIs, in one transaction.
Status merge_together(Database& database, std::span<const std::string> uris, MergeReport& added) {
  std::vector<std::string> names;
  Status merged;
  for (const std::string& uri : uris) {
    std::string name = fmt::format("other{}", names.size());
    merged = database.execute("ATTACH DATABASE ? AS " + name, uri);
    if (!merged) break;
    names.push_back(std::move(name));
  }
  if (merged)
    merged = write(database, [&]() -> Status {
      for (const std::string& name : names) HONE_TRY(merge_attached(database, name, added));
      return {};
    });
  for (const std::string& name : names) {
    const Status detached = database.script(("DETACH DATABASE " + name).c_str());
    if (merged) merged = detached;
  }
  return merged;
}

// Copies the readable part of a damaged store. Ids are kept, and every row is looked up by its id.
// A damaged page of a table therefore costs only the rows on it.
class Rescue {
 public:
  explicit Rescue(Database& database) : database_(database) {}

  Result<RescueReport> run() {
    RescueReport report;
    const std::vector<TableSchema> order = copied_tables();
    for (const TableSchema& table : order) {
      HONE_TRY(copy(table));
      if (table.name == kTable<Blob>.name) HONE_TRY(drop_changed_blobs());
      HONE_ASSIGN(const std::int64_t saved, count("main", table));
      if (table.name == kTable<Blob>.name) {
        HONE_ASSIGN(lost_source_, intern_blob(database_, ""));
      }
      RescuedRows& rows = report[std::string(table.name)];
      rows.saved = saved;
      if (const auto all = count_damaged(table))
        rows.lost = std::max<std::int64_t>(0, *all - saved);
    }
    HONE_TRY(database_.execute(
        fmt::format("DELETE FROM main.blob WHERE id = ? AND id NOT IN ({})", blobs_in_use()),
        lost_source_));
    return report;
  }

 private:
  // Copies the rows of `table` that meet `condition`; false if the file cannot be read there.
  Result<bool> copy_where(const TableSchema& table, const std::string& condition) {
    std::vector<std::string_view> columns;
    std::vector<std::string> values;
    for (const auto& [name, type, declared] : table.columns) {
      columns.push_back(name);
      std::string value = fmt::format("theirs.{}", name);
      if (!declared.references.empty())
        value = fmt::format("(SELECT id FROM main.{} WHERE id = {})", declared.references, value);
      if (name == "source_id") value = fmt::format("coalesce({}, {})", value, lost_source_);
      values.push_back(std::move(value));
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

  Status copy(const TableSchema& table) {
    // The condition keeps SQLite from copying cells as they are, which could leave half of a large
    // one.
    HONE_ASSIGN(const bool whole, copy_where(table, "WHERE true"));
    if (whole) return {};
    if (const ColumnSchema* id = table.id()) {
      const Id last = last_id(table, id->name);
      for (Id row = 1; row <= last; ++row)
        HONE_TRY(copy_where(table, fmt::format("WHERE theirs.{} = {}", id->name, row)));
      return {};
    }
    // Copy by owner: rows without an id are stored together, grouped by the row they belong to.
    const auto& [owner, type, declared] = table.columns.front();
    HONE_ASSIGN(const auto last,
                database_.find<Id>(
                    fmt::format("SELECT coalesce(max(id), 0) FROM main.{}", declared.references)));
    for (Id row = 1; row <= last.value_or(0); ++row)
      HONE_TRY(copy_where(table, fmt::format("WHERE theirs.{} = {}", owner, row)));
    return {};
  }

  // Returns the greatest id that an index or the table itself still has.
  Id last_id(const TableSchema& table, std::string_view id) {
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
  std::vector<std::string> indexes(const TableSchema& table) {
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

  Result<std::int64_t> count(std::string_view schema, const TableSchema& table,
                             const std::string& how = "NOT INDEXED") {
    HONE_ASSIGN(const auto row, database_.find<std::int64_t>(fmt::format(
                                    "SELECT count(*) FROM {}.{} {}", schema, table.name, how)));
    return row.value_or(0);
  }

  std::optional<std::int64_t> count_damaged(const TableSchema& table) {
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

Result<MergeReport> Store::merge(const std::vector<std::filesystem::path>& others) {
  std::vector<std::string> uris;
  HONE_TRY(check_others(others, path()));
  for (const std::filesystem::path& other : others) {
    HONE_ASSIGN(const Store source, Store::open(other, Mode::kReadOnly));
    uris.push_back(source.database_->uri());
  }
  HONE_ASSIGN(const auto cache, database_->find<std::int64_t>("PRAGMA main.cache_size"));
  const auto keep_pages = [&](std::int64_t size) {
    return database_->script(fmt::format("PRAGMA main.cache_size = {}", size).c_str());
  };
  HONE_TRY(keep_pages(kMergeCache));
  // The log would write each page twice. Where others have the file open it stays as it is.
  HONE_ASSIGN(const auto journal, database_->find<std::string>("PRAGMA main.journal_mode"));
  (void)database_->find<std::string>("PRAGMA main.journal_mode = DELETE");
  MergeReport added;
  Status merged;
  for (std::size_t i = 0; merged && i < uris.size(); i += kAttachedAtOnce)
    merged = merge_together(
        *database_, std::span(uris).subspan(i, std::min(kAttachedAtOnce, uris.size() - i)), added);
  if (journal)
    (void)database_->find<std::string>(fmt::format("PRAGMA main.journal_mode = {}", *journal));
  if (cache) HONE_TRY(keep_pages(*cache));
  HONE_TRY(merged);
  return added;
}

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
