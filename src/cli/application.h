// The command line: composition root of hone.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "base/result.h"

namespace hone::cli {

// Runs one command and returns its exit code: 0 done, 1 finished with failures the user should see,
// 2 wrong use or input, 3 environment, 130 interrupted.
int run(int argc, char** argv);

// Parses the words behind "hone" on a command line. Returns false after printing help or the
// version, if they were asked for. Input errors name the nearest option or command.
Result<bool> parse_words(CLI::App& app, std::vector<std::string> words);

// Returns the file that --config-file names in the command line parsed by `app`; empty without it.
std::string config_file_of(CLI::App& app);

}  // namespace hone::cli
