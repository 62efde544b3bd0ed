// Tools whose flags hone accepts. Their options have the tool as group: --help skips them, and
// `hone help migration` lists them. Their spellings keep working (docs/migration.md).
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace hone::cli {

namespace tool {
inline constexpr char kTuneGemm[] = "tune_gemm.py";
inline constexpr char kModelTuners[] = "SDXL scripts and SHARK's tuner";
inline constexpr char kDispatchProfiler[] = "IREE's dispatch profiler";
}  // namespace tool

bool is_of_other_tool(const CLI::Option& option);

// Returns the text of `hone help migration`: each tool's flags and what hone does with them. `root`
// has all commands.
std::string migration_text(CLI::App& root);

// Replaces old spellings in `arguments`, the words behind "hone": "tune -col_a" becomes
// "tune --col-a". Spellings of other commands and words behind "--" stay.
std::vector<std::string> with_new_spellings(std::vector<std::string> arguments);

}  // namespace hone::cli
