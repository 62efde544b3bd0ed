// Options that several commands have: of the toolchain, the place to measure on, and the call of a
// whole program.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/command.h"
#include "session/places.h"
#include "session/runtime_options.h"
#include "session/toolchain.h"

namespace hone::cli {

void add_toolchain_options(CLI::App& command, ToolchainOptions& options);
// Takes up what the file of flags says, once: flags, and the target where the command line names
// none; prints what is renamed or left out. Before anything else is asked of the options.
// Input errors: those of iree::read_flags_file, a target that hone does not know or that is not the
// one of the command line.
Status read_flags(ToolchainOptions& options);

void add_device_option(CLI::App& command, std::string& device);
void add_core_options(CLI::App& command, CoreOptions& options);
// `which`: the function that is called where none is named, in words ("the first").
void add_runtime_options(CLI::App& command, RuntimeOptions& options, const std::string& which);

// --external.
void add_external_option(CLI::App& command, std::vector<std::string>& manifests);

}  // namespace hone::cli
