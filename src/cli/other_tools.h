// Tools whose flags hone accepts. Their options have the tool as group: --help skips them, and
// `hone help migration` lists them.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

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

}  // namespace hone::cli
