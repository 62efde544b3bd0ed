// Large texts and binaries: kept once by content hash, compressed. Private to this folder.
#pragma once

#include <string>
#include <string_view>

#include "store/rows.h"
#include "store/sqlite.h"

namespace hone::store {

// Returns the id of the blob with these bytes, made if there is none.
Result<Id> intern_blob(Database& database, std::string_view bytes);

// Returns the bytes; an input error if they differ from those stored.
Result<std::string> load_blob(Database& database, Id id);

}  // namespace hone::store
