// HTML report of a store: its data as one JSON document, with the roofline time of whole programs
// that a tuning is compared with, and the page. The page is a self-contained file that needs
// neither a network nor other files. Its parts that are not data (src/output/report, Chart.js) are
// part of the binary.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "output/measured_dispatch.h"
#include "store/store.h"

namespace hone::output {

// Limit of one call of a program, as one build splits it into dispatches.
struct ProgramLimit {
  store::Id build = 0;              // 0 if no candidate of the program was compiled
  std::optional<double> seconds{};  // none if `why_unknown` says why
  std::string why_unknown{};
};

// Returns the limit on `device` for each build that `rows` have dispatches of. A limit is the sum
// of launches x roofline_seconds() over the program's dispatches. A kernel that was measured below
// its roofline, with operands in a cache, counts with its own time. Dispatches without candidates
// belong to the only build; of several builds, to none. Missing dispatches make a limit too small,
// never too large. `rows`: of all programs, builds and devices. A limit is unknown without the
// device's peaks, without operations and bytes, and for products of a type whose peak is unknown.
std::vector<ProgramLimit> program_limits(const std::vector<store::ProgramDispatch>& launches,
                                         const std::vector<store::DispatchView>& rows,
                                         store::Id device, const Peaks& peaks);

// Version of the document's layout: raised when a key changes its name or meaning.
inline constexpr int kReportVersion = 1;

// {"schema_version", "store", "builds", "devices", "programs", "runs", "specs", "dispatches"}. The
// lists are of what the dispatches (report_dispatch.h) and measurements of whole programs name, by
// id; `specs` are texts that program measurements name by index. `name`: the store as the user
// calls it, for the commands that the report shows. A program's "limits" are those of
// program_limits() for each device, in seconds. The same store gives the same document. An
// input error where the store holds no dispatch.
Result<nlohmann::ordered_json> report_data(store::Store& store, const std::string& name);

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
