// JSON texts that are compared: one spelling for equal values. Private to this folder.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hone::store {

// `text` with its keys sorted and without blanks. An input error, naming `what`, when it is not
// JSON.
Result<std::string> canonical_json(std::string_view what, std::string_view text);

// An input error, naming `what`, when `text` is not JSON. (The tables do not check it: SQLite 3.40
// counts json_valid() as unsafe in a schema that is not trusted.)
Status check_json(std::string_view what, std::string_view text);

// One JSON array of the texts: a hash over it tells ("a", "bc") from ("ab", "c").
std::string joined(std::initializer_list<std::string_view> texts);

}  // namespace hone::store
