// Says in words where a database is damaged. Private to this folder.
#pragma once

#include <string>
#include <vector>

struct sqlite3;

namespace hone::store {

// What PRAGMA integrity_check finds in each table and its indexes, at most `most` findings of each:
// "table measurement: Tree 12 page 345: ...". Reads all of the file; nothing where it finds
// nothing, or cannot even tell which tables there are.
std::vector<std::string> damage_by_table(sqlite3* database, int most);

}  // namespace hone::store
