// GEMMs on the command line, as ROCm's tune_gemm.py takes them.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "provider/triton/listed_gemms.h"

namespace hone::cli {

// All of them; and without the file of results, for commands that find none.
void add_gemm_options(CLI::App& command, triton::GemmOptions& options);
void add_gemm_list_options(CLI::App& command, triton::GemmOptions& options);

// An input error where an option of GEMMs is given, which would mean nothing for a program. What
// the command line says only, to be asked before a configuration file, which may say what all GEMMs
// have.
Status refuse_gemm_options(const CLI::App& command);

}  // namespace hone::cli
