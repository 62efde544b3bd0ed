// Large texts and binaries: kept once by content hash, compressed. Private to this folder.
#pragma once

#include <string>
#include <string_view>

#include "store/rows.h"
#include "store/sqlite.h"

namespace hone::store {

// The id of the blob with these bytes, made where there is none.
Result<Id> intern_blob(Database& database, std::string_view bytes);

// The bytes; an input error where they are not those that were stored.
Result<std::string> load_blob(Database& database, Id id);

}  // namespace hone::store
