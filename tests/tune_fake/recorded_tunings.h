// Three tunings whose jobs are recorded (recordings/): a CPU's with IREE, everything of it real; a
// GPU's with IREE and one with Triton, whose compiles are real and whose device is not.
#pragma once

#include <filesystem>
#include <string>

#include "tests/tune_fake/tape.h"
#include "tune/services/options.h"

namespace hone::test {

// The file that is tuned, for those of a program.
std::filesystem::path recorded_program();

struct RecordedTuning {
  std::string name;
  // What it came to, as JSON. `hone`: the program whose workers are recorded; empty: replayed.
  Result<nlohmann::json> (*run)(Tape& tape, const std::filesystem::path& folder,
                                const std::string& hone);
};

Result<nlohmann::json> tune_on_a_cpu(Tape& tape, const std::filesystem::path& folder,
                                     const std::string& hone);
Result<nlohmann::json> tune_on_a_gpu(Tape& tape, const std::filesystem::path& folder,
                                     const std::string& hone);
Result<nlohmann::json> tune_gemms(Tape& tape, const std::filesystem::path& folder,
                                  const std::string& hone);

}  // namespace hone::test
