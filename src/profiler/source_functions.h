// Functions of a source file, as text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hone::profiler {

// Returns the file's text without the functions that are not among `names`; text outside of
// functions stays. A function is from "func.func @NAME(" at the beginning of a line to the next
// line that is "}".
std::string only_functions(std::string_view source, const std::vector<std::string>& names);

// Returns the lowering configuration that the file gives the alias "#NAME"; empty if there is none.
std::string lowering_config_of(std::string_view source, std::string_view name);

// Joins several files into one: a compiler's frontend costs about the same for one function as for
// ten. Renames aliases of attributes ("#tile = ..."), which each file defines for itself.
std::string joined_sources(const std::vector<std::string>& sources);

}  // namespace hone::profiler
