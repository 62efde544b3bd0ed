// The HTML report: one file that needs nothing else, neither a network nor other files.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace hone::output {

// The page that shows report_data(). Its Content-Security-Policy forbids every request and every
// script but its own.
std::string report_page(const nlohmann::ordered_json& data);

}  // namespace hone::output
