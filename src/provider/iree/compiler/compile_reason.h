// Why the compiler refused a candidate, in a few words.
#pragma once

#include <string>
#include <string_view>

namespace hone::iree {

// A line that says why, before the compiler's own words `diagnostics`:
//   "stack 49152 B, limit 32768 B", "shared memory 426496 B, limit 166912 B",
//   "vectors of more than 32768 B",
//   "no vector layout: the compiler cannot distribute it over threads",
// or, for every other reason, its first line without the place in hone's own source of a dispatch
// ("dispatch:16:9: "), which nobody has; the words then begin with the second line.
std::string with_reason(std::string_view diagnostics);

// The line that matters in what a compile of a whole program said: a reason as above, what the
// linker misses ("undefined symbol: log10f"), or the first diagnostic.
std::string reason_in_program(std::string_view message);

}  // namespace hone::iree
