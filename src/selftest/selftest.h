// hone selftest: checks of a device and of hone on it, for a machine that hone's makers cannot
// have. Each check runs whatever the others found.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "selftest/bench.h"
#include "selftest/check.h"

namespace hone::selftest {

// The programs of the tests, and recorded.json.
std::span<const EmbeddedFile> programs();

// The names of all checks, in the order in which they run: "doctor", "facts", ..., "tuning".
const std::vector<std::string>& check_names();

// Reads a document of recorded results; empty: the binary's own. Input errors: no such file, no
// JSON object.
Result<Recorded> read_recorded(const std::string& path);

// Runs the checks of the device that are named in `only` (empty: all), and calls `done` after each.
// Errors: the compiler or the runner does not start, interrupted.
Status check_device(Bench& bench, const Recorded& recorded, const std::vector<std::string>& only,
                    const std::function<void(const Check&)>& done);

}  // namespace hone::selftest
