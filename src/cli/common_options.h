// Options that several commands share: the toolchain, the device to measure on, the call of a whole
// program, and GEMMs as in ROCm's tune_gemm.py.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/command.h"
#include "provider/triton/listed_gemms.h"
#include "session/comparison_session.h"
#include "session/input_program.h"
#include "session/places.h"
#include "session/runtime_options.h"
#include "session/toolchain.h"

namespace hone::cli {

// Help of --iree.
inline constexpr char kIreeHelp[] = "IREE library, virtual environment or site-packages";

void add_toolchain_options(CLI::App& command, ToolchainOptions& options);
// Starts the compile workers, then reads the program in `given` and prints its notes.
struct OpenedProgram {
  Toolchain toolchain;
  InputProgram input;
};
Result<OpenedProgram> open_program(const ToolchainOptions& options, const std::string& given,
                                   bool notes = true, const std::filesystem::path& folder = {});
// Splits an opened program into dispatches (load_for_target), and prints target_note().
Result<problem::Program> load(const OpenedProgram& opened, const ToolchainOptions& options,
                              const std::string& path);
void print_target_note(const ToolchainOptions& options);

// Applies the file of flags once: its flags, and its target if the command line names none. Prints
// renamed and dropped flags. Call it before any other use of the options. Input errors: those of
// iree::read_flags_file, a target that hone does not know or that differs from the command line's.
Status read_flags(ToolchainOptions& options);

// Adds --device and --hip.
void add_device_option(CLI::App& command, std::string& device);
// Adds --hip, which sets HONE_HIP for this process and those it starts.
void add_hip_option(CLI::App& command);
void add_core_options(CLI::App& command, CoreOptions& options);
// Adds the options. `which`: the function that is called by default, for the help text ("the
// first").
void add_runtime_options(CLI::App& command, RuntimeOptions& options, const std::string& which);

// Adds --json, --quiet and --plain of a command with progress.
template <class Options>
void add_screen_options(CLI::App& command, Options& options) {
  command.add_flag("--json", options.json, "print one JSON document");
  command.add_flag("--quiet", options.quiet, "print no progress");
  command.add_flag("--plain", options.plain,
                   "print progress as plain lines, as without a terminal");
}

// Adds an option of a number above 0, whose default help shows.
template <class Number>
void add_positive_option(CLI::App& command, const std::string& name, Number& value,
                         const std::string& text) {
  add_default_option(command, name, value, text)->check(CLI::PositiveNumber);
}

// Adds the options of a comparison: toolchain, rounds and their statistics, device, cores and
// screen. `sides`: what is run, "A and B". `alpha`: what --alpha bounds.
void add_comparison_options(CLI::App& command, ComparisonSessionOptions& options,
                            const std::string& sides, const std::string& alpha);
// Adds --trust of a command that loads a store's code.
void add_trust_option(CLI::App& command, bool& trust);

// Adds --external.
void add_external_option(CLI::App& command, std::vector<std::string>& manifests);

// Adds all options of GEMMs; the second function leaves out the file of results, for commands that
// find none.
void add_gemm_options(CLI::App& command, triton::GemmOptions& options);
void add_gemm_list_options(CLI::App& command, triton::GemmOptions& options);

// Returns an input error if the command line has an option of GEMMs, which would mean nothing for a
// program. Call it before a configuration file is read: that may hold options for all GEMMs.
Status refuse_gemm_options(const CLI::App& command);

}  // namespace hone::cli
