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

// The lowering configuration that the file gives the alias "#NAME", as its text; empty where it
// gives none.
std::string lowering_config_of(std::string_view source, std::string_view name);

// Several files as one: a compiler's front half costs about the same for one function as for ten.
// Aliases of attributes ("#tile = ..."), which each file names for itself, are told apart.
std::string joined_sources(const std::vector<std::string>& sources);

}  // namespace hone::profiler
