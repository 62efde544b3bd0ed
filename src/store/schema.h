// The tables, and how a file of an older schema is brought up to date. Private to this folder.
#pragma once

#include "base/result.h"
#include "store/sqlite.h"

namespace hone::store {

inline constexpr std::int64_t kSchemaVersion = 3;           // PRAGMA user_version
inline constexpr std::int64_t kApplicationId = 0x686f6e65;  // PRAGMA application_id: "hone"

// Whether the file is a store that this hone can use: 0 for an empty file, else its schema version.
// Input errors: a database of another program, one made by a newer hone.
Result<std::int64_t> schema_version(Database& database);

// Makes the tables in an empty file, or changes those of an older schema, in one transaction.
// Does nothing if another process was first.
Status migrate(Database& database);

}  // namespace hone::store
