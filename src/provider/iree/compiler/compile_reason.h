// Why the compiler refused a candidate, in a few words.
#pragma once

#include <string>
#include <string_view>

namespace hone::iree {

// Puts a reason in one line before the compiler's own words `diagnostics`:
//   "stack 49152 B, limit 32768 B", "shared memory 426496 B, limit 166912 B",
//   "vectors of more than 32768 B",
//   "no vector layout: the compiler cannot distribute it over threads".
// For any other reason, returns the compiler's words without the place ("dispatch:16:9: ") in
// hone's own source of a dispatch, which users do not have.
std::string with_reason(std::string_view diagnostics);

// The relevant line of the messages of a whole-program compile: a reason as above, the linker's
// missing symbol ("undefined symbol: log10f"), or the first diagnostic.
std::string reason_in_program(std::string_view message);

}  // namespace hone::iree
