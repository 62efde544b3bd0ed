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

// What python/import_onnx.py prints; empty for anything else.
SizeNames size_names_from(const nlohmann::json& json);

// As a line of comment for the beginning of a program's text, and read from there: empty for a
// program without it.
std::string comment_of(const SizeNames& names);
SizeNames size_names_in(std::string_view program);

}  // namespace hone::iree
