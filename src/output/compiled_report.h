// Report of `hone tune --compile-only`.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/result.h"
#include "tune/dispatch/compile_only.h"

namespace hone::output {

// Returns counts per dispatch and the candidates in the order of ranks_before(): a table of the
// first ten, or one JSON document with all. The document is also written to `file`. A default that
// does not compile comes first, the outcome of the run last. `target`: as session::target_json.
Result<std::string> compiled_report(const nlohmann::json& target,
                                    const tune::CompiledProgram& compiled, bool json,
                                    const std::filesystem::path& file);

}  // namespace hone::output
