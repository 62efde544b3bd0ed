// hone's manual page, generated from the commands.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace hone::cli {

// roff of the man macros (man(7)): every command with its options and examples, the environment,
// files and exit codes. ASCII.
std::string man_page(CLI::App& root);

}  // namespace hone::cli
