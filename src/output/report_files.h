// The parts of the HTML report that are not data: its page, styles and scripts (src/output/report)
// and Chart.js.
#pragma once

#include "base/embedded_file.h"

namespace hone::output {

// Returns the files by name: "page.html", "style.css", the scripts in the order in which they run.
std::span<const EmbeddedFile> report_files();

}  // namespace hone::output
