// Files that hone profile writes beside its screen.
#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>

#include "base/result.h"
#include "cli/command.h"
#include "profiler/profile_run.h"
#include "session/sessions.h"

namespace hone::cli {

struct ProfileOutputOptions {
  std::string output;     // .csv or .json; empty: none
  bool append = false;    // to a CSV file
  std::string tags;       // "k:v,..."
  std::string junit;      // empty: none
  std::string report;     // HTML; empty: none
  std::string save_cmds;  // shell script; empty: none
  bool json = false;      // the table on stdout, and nothing else there
};

void add_profile_output_options(CLI::App& command, ProfileOutputOptions& options);

// Checks the options before anything is measured. Input errors: malformed tags, a file that is
// neither .csv nor .json, --append without a CSV file or to one with other columns.
Status check_output(const ProfileOutputOptions& options);

// Writes the files, each whole or not at all. Names the report on stdout as the old tool did, or
// prints the table there as JSON.
Status write_profile(const ProfileOutputOptions& options,
                     std::span<const profiler::ProfileRow> rows, const ProgramSession& session);

// Prints a line to stderr: the number of correct dispatches, and the share of time of each phase.
void print_profile_summary(std::span<const profiler::ProfileRow> rows,
                           const profiler::ProfileSpent& spent, double seconds);

}  // namespace hone::cli
