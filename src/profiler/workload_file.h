// Workload file: operations for hone generate.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "profiler/sweep.h"

namespace hone::profiler {

// Appends "f16" (all three), "f16,f16,f32" or "all" to `types`. An input error that names `flag`.
Status read_types(std::string_view flag, std::string_view text, std::vector<Types>& types);
// Appends "tn", "nchw" or "all" (of either kind) to `layouts`. An input error that names `flag`.
Status read_layouts(std::string_view flag, std::string_view text,
                    std::vector<std::string>& layouts);

// Reads the operations of a YAML file: a list, by itself or under the key "operations". Its items
// are
// - names: matmul_768x512x1024_f16t_f16t_f16t;
// - maps: kind (a name or a list); the dimensions by extent_names(), each a number, a list or a
//   text "start:end:increment"; types and layouts (a text or a list of them) as --types and
//   --layouts take them. Inside {} a text with commas needs quotes.
// Input errors give the file, the line and the allowed values.
Result<std::vector<Operation>> read_workload(const std::string& path);

}  // namespace hone::profiler
