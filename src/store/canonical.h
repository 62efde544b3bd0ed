// Canonical JSON: one spelling for equal values. Private to this folder.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hone::store {

// Returns `text` with sorted keys and without blanks. An input error, naming `what`, if it is not
// JSON.
Result<std::string> canonical_json(std::string_view what, std::string_view text);

// Returns an input error, naming `what`, if `text` is not JSON. (The tables do not check it: SQLite
// 3.40 counts json_valid() as unsafe in a schema that is not trusted.)
Status check_json(std::string_view what, std::string_view text);

// Returns the texts as one JSON array: a hash over it tells ("a", "bc") from ("ab", "c").
std::string joined(std::initializer_list<std::string_view> texts);

}  // namespace hone::store
