// Checks of hone selftest and their results.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace hone::selftest {

enum class Outcome {
  kPassed,
  kNote,  // passed in part: something is missing here, or was not recorded for this device
  kFailed,
};

std::string_view name_of(Outcome outcome);  // "passed", "note", "FAILED"

struct Check {
  std::string name;  // "copies", "kernels"
  Outcome outcome = Outcome::kPassed;
  std::string found = {};                          // in words, with units
  std::string expected = {};                       // where it differs from what was found
  nlohmann::json data = nlohmann::json::object();  // the figures behind the words
  double seconds = 0;
};

// Results of earlier self-tests, as the binary has them (recorded.json) or a user's file:
//   {"kernels": {NAME: hash of its output}, "devices": {NAME: {FACT: value, "clock_megahertz": f}}}
// A report of hone selftest is such a document too.
struct Recorded {
  nlohmann::json kernels = nlohmann::json::object();
  nlohmann::json devices = nlohmann::json::object();

  // Returns the facts of the device; null if no self-test of one was recorded.
  const nlohmann::json* find_device(const std::string& name) const;
};

}  // namespace hone::selftest
