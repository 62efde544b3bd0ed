// Comparisons of two files of results, which run nothing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"

namespace hone::cli {

struct ComparedFiles {
  std::vector<std::string> operands;  // two
  std::optional<double> atol, rtol;   // of arrays
  double threshold = 0;               // of reports
  bool json = false;
};

// Prints the comparison of two .npy files; returns 1 if an element is off by more than the
// tolerance allows, which without --atol and --rtol is that of programs. Input errors: a file that
// is no .npy file, arrays of different types.
CommandResult compare_arrays(const ComparedFiles& files);

// Prints the dispatches of two reports of hone profile, or of the old dispatch profiler, whose time
// or verification changed, and those that only one report has. Rows are matched by provider,
// operation and configuration. The exit code is 0 whatever changed: the times are from two runs
// that were not interleaved. Input errors: a file that is no such report.
CommandResult compare_profiles(const ComparedFiles& files);

}  // namespace hone::cli
