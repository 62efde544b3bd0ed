// hone compare old.csv new.csv: the changes between two reports of hone profile, or of the old
// dispatch profiler.
#pragma once

#include <string>

#include "base/result.h"

namespace hone::cli {

struct ProfileComparison {
  std::string old_file, new_file;  // .csv
  double threshold = 0.05;         // changes of the time up to this share are not listed
  bool json = false;
};

// Prints the dispatches whose time or verification changed, and those that only one report has.
// Rows are matched by provider, operation and configuration. The exit code is 0 whatever changed:
// the times are from two runs that were not interleaved. Input errors: a file that is no such
// report.
Result<int> compare_profiles(const ProfileComparison& comparison);

}  // namespace hone::cli
