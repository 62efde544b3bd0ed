// What hone profile writes beside its screen.
#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>

#include "base/result.h"
#include "cli/command.h"
#include "profiler/profile_run.h"
#include "session/program_session.h"

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

// Before anything is measured: input errors for tags that are none, for another kind of file than
// .csv and .json, for --append without a CSV file or to one with other columns.
Status check_output(const ProfileOutputOptions& options);

// Writes the files, each whole or not at all, and names the report on stdout as the old tool did,
// or prints the table there as JSON.
Status write_profile(const ProfileOutputOptions& options,
                     std::span<const profiler::ProfileRow> rows, const ProgramSession& session);

// One line on stderr: how many were right, what the time went into.
void print_profile_summary(std::span<const profiler::ProfileRow> rows,
                           const profiler::ProfileSpent& spent, double seconds);

}  // namespace hone::cli
