// What the proof of a tuning says, for people and as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tune/tuning_run.h"

namespace hone::cli {

// Of those sizes that were given.
std::vector<std::string> names_of_sizes(const tune::TuningResult& result);

// What rounds that chose nothing say, flags and spec apart; how far the outputs lie from the
// default's; and where the gain comes from. Whole lines; empty where nothing was proved.
std::string proof_text(const tune::TuningResult& result);

// tune::json_of() of the verdict; null where nothing was proved.
nlohmann::json proof_json(const tune::TuningResult& result);
// tune::json_of() of each gain.
nlohmann::json gains_json(const tune::TuningResult& result);
// One of each output of the proved program against the default's: {"elements", "different",
// "largest_error", "mean_error", "largest_relative", "largest_ulp"}.
nlohmann::json outputs_json(const tune::TuningResult& result);

}  // namespace hone::cli
