// HTML report: a self-contained file that needs neither a network nor other files. Its parts that
// are not data (src/output/report, Chart.js) are part of the binary.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "base/file.h"
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

// Returns the files by name: "page.html", "style.css", the scripts in the order in which they run.
std::span<const EmbeddedFile> report_files();

}  // namespace hone::output
