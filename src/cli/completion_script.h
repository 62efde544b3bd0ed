// Completion of hone's command line, as scripts for shells. They are generated from the commands
// and hold everything: completing starts no hone.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace hone::cli {

// For bash 4 or later: commands, options, the values of an option that has a list of them, files
// where one is expected; nothing for other values.
std::string bash_completion(CLI::App& root);
// Scripts with descriptions. `#compdef hone`: a file _hone in a folder of $fpath.
std::string zsh_completion(CLI::App& root);
std::string fish_completion(CLI::App& root);

}  // namespace hone::cli
