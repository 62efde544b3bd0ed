// GEMM options of the command line, as in ROCm's tune_gemm.py.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "provider/triton/listed_gemms.h"

namespace hone::cli {

// Adds all options; the second function leaves out the file of results, for commands that find
// none.
void add_gemm_options(CLI::App& command, triton::GemmOptions& options);
void add_gemm_list_options(CLI::App& command, triton::GemmOptions& options);

// Returns an input error if the command line has an option of GEMMs, which would mean nothing for a
// program. Call it before a configuration file is read: that may hold options for all GEMMs.
Status refuse_gemm_options(const CLI::App& command);

}  // namespace hone::cli
