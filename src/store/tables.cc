#include "store/tables.h"

#include <algorithm>
#include <memory>

#include "store/schema.h"

namespace hone::store {
namespace {

// Selects the columns that are unique beside the id; without an id the primary key.
constexpr std::string_view kKey =
    "SELECT name FROM pragma_table_info(?1) WHERE pk > 0 AND name <> 'id' UNION ALL "
    "SELECT part.name FROM pragma_index_list(?1) AS list JOIN pragma_index_info(list.name) AS part "
    "WHERE list.origin = 'u'";

Result<Table> table_of(Database& schema, std::string name) {
  Table table;
  HONE_ASSIGN(
      table.references,
      schema.all<Reference>("SELECT \"from\", \"table\" FROM pragma_foreign_key_list(?)", name));
  HONE_ASSIGN(table.key, schema.all<std::string>(kKey, name));
  HONE_ASSIGN(table.columns,
              schema.all<std::string>("SELECT name FROM pragma_table_info(?)", name));
  table.has_id = std::erase(table.columns, "id") > 0;
  std::erase_if(table.columns, [&](const std::string& column) {
    return std::ranges::find(table.references, column, &Reference::column) !=
           table.references.end();
  });
  table.name = std::move(name);
  return table;
}

}  // namespace

Result<std::vector<Table>> tables() {
  HONE_ASSIGN(const std::unique_ptr<Database> schema,
              Database::open(":memory:", Database::Access::kReadWriteCreate, {}));
  HONE_TRY(migrate(*schema));
  HONE_ASSIGN(std::vector<std::string> names,
              schema->all<std::string>("SELECT name FROM sqlite_schema WHERE type = 'table' "
                                       "AND name <> 'lease' ORDER BY rowid"));
  std::vector<Table> tables;
  for (std::string& name : names) {
    HONE_ASSIGN(Table table, table_of(*schema, std::move(name)));
    tables.push_back(std::move(table));
  }
  return tables;
}

}  // namespace hone::store
