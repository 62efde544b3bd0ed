// The HTML report: one file that needs nothing else, neither a network nor other files.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "base/result.h"
#include "store/store.h"

namespace hone::output {

// The page that shows report_data(). Its Content-Security-Policy forbids every request and every
// script but its own.
std::string report_page(const nlohmann::ordered_json& data);

// Writes what the store holds to `file`. `name`: the store as the user calls it. An input error
// where it holds no dispatch.
Status write_report(store::Store& store, const std::string& name,
                    const std::filesystem::path& file);

}  // namespace hone::output
