// hone compare of two files of results: arrays (expected.npy got.npy), and reports of hone profile
// or of the old dispatch profiler (old.csv new.csv).
#pragma once

#include <optional>
#include <string>

#include "base/result.h"

namespace hone::cli {

struct ArrayComparison {
  std::string expected, got;                 // .npy files
  std::optional<double> absolute, relative;  // tolerance; none: by element type, as programs have
  bool json = false;
};

// Prints the comparison; returns 1 if an element is off by more than the tolerance allows. Input
// errors: a file that is no .npy file, arrays of different types.
Result<int> compare_arrays(const ArrayComparison& comparison);

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
