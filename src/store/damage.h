// Describes the damage of a database. Private to this folder.
#pragma once

#include <string>
#include <vector>

struct sqlite3;

namespace hone::store {

// Runs PRAGMA integrity_check on each table and its indexes, and returns at most `most` findings of
// each: "table measurement: Tree 12 page 345: ...". Reads the whole file. Empty if it finds
// nothing, or cannot even list the tables.
std::vector<std::string> damage_by_table(sqlite3* database, int most);

}  // namespace hone::store
