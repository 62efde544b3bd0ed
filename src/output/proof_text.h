// What the proof of a tuning says, for people and as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tune/tuning_run.h"

namespace hone::output {

// Returns the names of those sizes that were given.
std::vector<std::string> names_of_sizes(const tune::TuningResult& result);

// What rounds that chose nothing say, flags and spec apart; how far the outputs lie from the
// default's; and where the gain comes from. Whole lines; empty where nothing was proved.
std::string proof_text(const tune::TuningResult& result);

// The last words of a tuning, as of hyperfine: how many times faster the recommended way is than
// its flags alone and than the compiler's defaults, where that is proved, "2.96 ± 0.10 times
// faster"; a line for each set of sizes. Behind "±" stands half the width of the 95 % interval.
// `flags_file`: how to build it. Whole lines; empty where nothing was proved either way.
std::string closing_summary(const tune::TuningResult& result, const std::string& flags_file);

// A line that names the dispatches that are wrong by the compiler's own choice, and the command
// that shows it of one; another for those of them that what is recommended has a right kernel for.
// Empty without any. That a proof compares outputs with the default's says nothing where one is
// left wrong. `program`: as hone was given it.
std::string wrong_by_default_text(const tune::TuningResult& result, const std::string& program);

// tune::json_of() of the verdict; null where nothing was proved.
nlohmann::json proof_json(const tune::TuningResult& result);
// tune::json_of() of each gain.
nlohmann::json gains_json(const tune::TuningResult& result);
// How many elements are off by how many ulp: {"1": 120, "2": 3, "3-4": 0, ...}.
nlohmann::json ulp_histogram_json(const measure::ArrayDifference& difference);
// One of each output of the proved program against the default's: {"elements", "different",
// "largest_error", "mean_error", "largest_relative", "largest_ulp", "by_ulp"}.
nlohmann::json outputs_json(const tune::TuningResult& result);

}  // namespace hone::output
