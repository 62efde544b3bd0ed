// Reports of a profile: the old tool's screen, a table for CSV and JSON, JUnit XML.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "output/measured_dispatch.h"
#include "output/table.h"
#include "profiler/profile_run.h"

namespace hone::profiler {

// Returns the old tool's block of lines, from the rule of dashes on. Further lines say why a
// dispatch failed, and how a library's product differs.
std::string screen_block(const ProfileRow& row);

// Names and values of --tags, the first columns.
using Tags = std::vector<std::pair<std::string, std::string>>;
// Parses "k:v,..." ("k=v" is read too). Input errors: anything else, a name that a column has, a
// name that comes twice.
Result<Tags> read_tags(const std::string& text);

// Returns the old columns in the old order, then further_arguments_of() and newer ones: Samples,
// Min(ms), Median(ms), Spread(%) (interquartile range / median), GB/s, Roofline(%), Registers,
// Shared memory(bytes), Kernels, Message. Roofline(%) is the share of the device's measured peak
// that its arithmetic and bytes allow. Runtime(ms) is the median, and GFLOPs is computed from it.
output::Table profile_table(std::span<const ProfileRow> rows, const Tags& tags,
                            const output::Peaks& peaks);

// Returns the data of output::report_page(): a roofline, a heat map over two swept dimensions, a
// table. The page names `store`.
nlohmann::ordered_json profile_page_data(std::span<const ProfileRow> rows,
                                         const output::Peaks& peaks, const std::string& store);

// Returns a JUnit test case for each dispatch: failed if its verification failed, skipped if there
// was none. Libraries have no test cases.
std::string junit_text(std::span<const ProfileRow> rows);

}  // namespace hone::profiler
