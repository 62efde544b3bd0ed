// Data of the HTML report, as one JSON document read from a store.
#pragma once

#include <nlohmann/json.hpp>

#include "base/result.h"
#include "store/store.h"

namespace hone::output {

// Version of the document's layout: raised when a key changes its name or meaning.
inline constexpr int kReportVersion = 1;

// {"schema_version", "store", "builds", "devices", "programs", "runs", "specs", "dispatches"}. The
// lists are of what the dispatches (report_dispatch.h) and measurements of whole programs name, by
// id; `specs` are texts that program measurements name by index. `name`: the store as the user
// calls it, for the commands that the report shows. A program's "limits" are those of
// program_limit.h for each device, in seconds. The same store gives the same document. An
// input error where the store holds no dispatch.
Result<nlohmann::ordered_json> report_data(store::Store& store, const std::string& name);

}  // namespace hone::output
