// Merges table by table, in order of their references. A row is identified by its content, not by
// its id.
#include <system_error>

#include "store/schema.h"
#include "store/store.h"
#include "store/tables.h"

namespace hone::store {
namespace {

// The other store's value of a column, its references turned into this store's ids.
std::string translated(const Table& table, std::string_view column) {
  for (const Reference& reference : table.references)
    if (reference.column == column)
      return fmt::format("(SELECT mine FROM temp.merged_{} WHERE theirs = other_row.{})",
                         reference.table, column);
  return fmt::format("other_row.{}", column);
}

Result<std::int64_t> merge_table(Database& database, const Table& table) {
  std::vector<std::string> columns = table.columns;
  for (const Reference& reference : table.references) columns.push_back(reference.column);
  std::vector<std::string> values, same;
  for (const std::string& column : columns) values.push_back(translated(table, column));
  for (const std::string& column : table.key)
    same.push_back(fmt::format("main_row.{} = {}", column, translated(table, column)));
  HONE_TRY(database.execute(fmt::format(
      "INSERT INTO main.{0} ({1}) SELECT {2} FROM other.{0} AS other_row WHERE NOT EXISTS "
      "(SELECT 1 FROM main.{0} AS main_row WHERE {3})",
      table.name, fmt::join(columns, ", "), fmt::join(values, ", "), fmt::join(same, " AND "))));
  const std::int64_t added = database.changed_rows();
  if (table.has_id) {
    HONE_TRY(database.execute(fmt::format(
        "CREATE TEMP TABLE merged_{} (theirs INTEGER PRIMARY KEY, mine INTEGER NOT NULL)",
        table.name)));
    HONE_TRY(
        database.execute(fmt::format("INSERT INTO temp.merged_{0} SELECT other_row.id, main_row.id "
                                     "FROM other.{0} AS other_row JOIN main.{0} AS main_row ON {1}",
                                     table.name, fmt::join(same, " AND "))));
  }
  return added;
}

}  // namespace

Result<MergeReport> Store::merge(const std::filesystem::path& other) {
  // Reports errors of the other file as opening it does.
  HONE_ASSIGN(Store source, Store::open(other, Mode::kReadOnly));
  std::error_code code;
  if (std::filesystem::equivalent(source.path(), path(), code))
    return input_error("'{}' is the store to merge into: name another one", other.string());
  HONE_ASSIGN(const CheckReport report_of_other, source.check());
  if (!report_of_other.ok())
    return input_error("the store '{0}' is damaged ({1}); 'hone store check {0}' says what else is",
                       other.string(), report_of_other.damage.front());
  HONE_ASSIGN(const std::vector<Table> all, tables());
  HONE_TRY(database_->execute("ATTACH DATABASE ? AS other", source.database_->uri()));
  Result<MergeReport> report = write(*database_, [&]() -> Result<MergeReport> {
    MergeReport added;
    for (const Table& table : all) {
      HONE_ASSIGN(added[table.name], merge_table(*database_, table));
    }
    // A run that was in progress at the last merge may have ended since.
    HONE_TRY(database_->execute(
        "UPDATE main.run SET state = theirs.state, ended = theirs.ended FROM other.run AS theirs "
        "WHERE theirs.uid = main.run.uid AND main.run.state = 'running' "
        "AND theirs.state <> 'running'"));
    for (const Table& table : all)
      if (table.has_id)
        HONE_TRY(database_->execute(fmt::format("DROP TABLE temp.merged_{}", table.name)));
    return added;
  });
  const Status detached = database_->script("DETACH DATABASE other");
  if (report && !detached) return tl::unexpected(detached.error());
  return report;
}

}  // namespace hone::store
