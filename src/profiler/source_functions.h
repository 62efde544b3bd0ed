// Functions of a source file, as text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hone::profiler {

// The file's text without the functions that are not among `names`; what stands outside of
// functions stays. A function is from "func.func @NAME(" at the beginning of a line to the next
// line that is "}".
std::string only_functions(std::string_view source, const std::vector<std::string>& names);

}  // namespace hone::profiler
