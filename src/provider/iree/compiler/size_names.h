// The names that a model gives to sizes which it leaves open until run time.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace hone::iree {

// Each with the extents that have it: "batch" of "input0.0" and "input1.0".
using SizeNames = std::map<std::string, std::vector<std::string>>;

// Reads the output of python/import_onnx.py; empty for anything else.
SizeNames size_names_from(const nlohmann::json& json);

// Converts the names to a comment line for the beginning of a program's text, and reads them from
// such a text. Empty for a program without that line.
std::string comment_of(const SizeNames& names);
SizeNames size_names_in(std::string_view program);

}  // namespace hone::iree
