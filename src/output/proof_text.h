// Proof of a tuning, for people and as JSON; with the gain that a spec's kernels predict, and its
// part that arrives in the whole program.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "output/table.h"
#include "tune/program/program_gain.h"
#include "tune/tuning_run.h"

namespace hone::output {

// Returns a waterfall of a call's time. Its rows are the flags' gain, each kernel with a spec entry
// and its provider, the other kernels, the time between kernels, and the whole. Long lists keep the
// first kernels by predicted gain.
Table gain_table(const tune::ProgramGain& gain);

// Returns "94 % of what its kernels promise arrives in the program (9.4 of 10 ms).". If a tenth or
// more is missing, the text says where it went, as far as that is known.
std::string words_of_gain(const tune::ProgramGain& gain);

// Returns the names of the given sizes.
std::vector<std::string> names_of_sizes(const tune::TuningResult& result);

// Renders the proof: the claims of rounds that chose nothing, for flags and spec apart; the
// outputs' differences to the default's; the sources of the gain. Whole lines; empty if nothing was
// proved.
std::string proof_text(const tune::TuningResult& result);

// Returns a tuning's closing lines, in the form of hyperfine: "2.96 ± 0.10 times faster". They
// state the proved speedups of the recommended build over its flags alone and over the compiler's
// defaults, a line for each set of sizes. The number behind "±" is half the width of the 95 %
// interval. `flags_file`: how to build it. Whole lines; empty if nothing was proved either way.
std::string closing_summary(const tune::TuningResult& result, const std::string& flags_file);

// Returns a line with the dispatches that are wrong by the compiler's own choice, and the command
// that shows one. Another line lists those for which the recommendation has a correct kernel. Empty
// if there are none. While one is left wrong, comparing outputs with the default's proves nothing.
// `program`: as hone was given it.
std::string wrong_by_default_text(const tune::TuningResult& result, const std::string& program);

// Returns tune::json_of() of the verdict; null if nothing was proved.
nlohmann::json proof_json(const tune::TuningResult& result);
// Returns tune::json_of() of each gain.
nlohmann::json gains_json(const tune::TuningResult& result);
// Returns {"elements", "different", "largest_error", "mean_error", "largest_relative",
// "largest_ulp", "by_ulp"}. The last counts elements by their error in ulp: {"1": 120, "2": 3,
// "3-4": 0, ...}.
nlohmann::json difference_json(const measure::ArrayDifference& difference);
// Returns such an object for each output of the proved program, compared with the default's.
nlohmann::json outputs_json(const tune::TuningResult& result);

}  // namespace hone::output
