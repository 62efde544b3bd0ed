// Layout of --help: the most used options of a command first, the others below headings.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace hone::cli {

// Headings that options name themselves. The table in option_layout.cc places all others.
namespace heading {
inline constexpr char kProgram[] = "Program";
inline constexpr char kOperations[] = "Operations";
inline constexpr char kShapes[] = "Shapes";
inline constexpr char kCompiler[] = "Compiler";
inline constexpr char kGemms[] = "GEMMs (--provider triton)";
}  // namespace heading

// Options below one heading.
struct OptionSection {
  std::string heading;
  std::vector<const CLI::Option*> options;
};

// Returns the options of a command in the order of help, without positional ones and those of other
// tools. A command with few options has one section, "Options". A command with many begins with its
// ten most used ones. `path`: "spec check".
std::vector<OptionSection> option_sections(const CLI::App& command, std::string_view path);

}  // namespace hone::cli
