// The tables, and how a file of an older schema is brought up to date. Private to this folder.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "store/columns.h"

namespace hone::store {

inline constexpr std::int64_t kSchemaVersion = 4;           // PRAGMA user_version
inline constexpr std::int64_t kApplicationId = 0x686f6e65;  // PRAGMA application_id: "hone"

// A table as data.
struct ColumnSchema {
  std::string_view name;
  std::string type;  // "TEXT NOT NULL"
  Declared declared;
};
struct TableSchema {
  std::string_view name;
  std::vector<ColumnSchema> columns;

  const ColumnSchema* id() const;  // the column that holds the row id; null where there is none
  bool gives_ids() const;          // whether other tables may refer to its rows
};

// Returns the tables of the current version, each behind those that it refers to.
std::vector<TableSchema> tables();

// Returns a query for the ids of all blobs that rows refer to.
std::string blobs_in_use();

// Whether the file is a store that this hone can use: 0 for an empty file, else its schema version.
// Input errors: a database of another program, one made by a newer hone.
Result<std::int64_t> schema_version(Database& database);

// Makes the tables in an empty file, or changes those of an older schema, in one transaction.
// Does nothing if another process was first.
Status migrate(Database& database);

}  // namespace hone::store
