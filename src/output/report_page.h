// HTML report: a self-contained file that needs neither a network nor other files.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "base/result.h"
#include "store/store.h"

namespace hone::output {

// Returns the page that shows report_data(). Its Content-Security-Policy forbids every request and
// every script but its own.
std::string report_page(const nlohmann::ordered_json& data);

// Writes the report of the store to `file`. `name`: the store as the user calls it. An input error
// if it holds no dispatch.
Status write_report(store::Store& store, const std::string& name,
                    const std::filesystem::path& file);

}  // namespace hone::output
