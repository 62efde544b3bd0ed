// What `hone tune --compile-only` prints.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/result.h"
#include "tune/dispatch/compile_only.h"

namespace hone::output {

// Counts per dispatch and the candidates in the order of ranks_before(): a table of the first ten,
// or one JSON document with all. The document is written to `file` in any case. A default that does
// not compile comes first, what the run came to last. `target`: as session::target_json.
Result<std::string> compiled_report(const nlohmann::json& target,
                                    const tune::CompiledProgram& compiled, bool json,
                                    const std::filesystem::path& file);

}  // namespace hone::output
