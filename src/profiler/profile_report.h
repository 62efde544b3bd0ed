// What a profile says: on the screen as the old tool did, as a table for CSV and JSON, as JUnit
// XML.
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

// The old tool's block of lines, from the rule of dashes on; behind the old lines those that say
// why a dispatch failed, and of a library how its product differs.
std::string screen_block(const ProfileRow& row);

// Names and values of --tags, which are the first columns.
using Tags = std::vector<std::pair<std::string, std::string>>;
// "k:v,..." ("k=v" is read too). An input error for what is neither, and for a name that a column
// has or that comes twice.
Result<Tags> read_tags(const std::string& text);

// The old columns in the old order, then further_arguments_of() and what is measured now: Samples,
// Min(ms), Median(ms), Spread(%) (interquartile range / median), GB/s, Roofline(%) (of what the
// device's measured peak allows for its arithmetic and bytes), Registers, Shared memory(bytes),
// Kernels, Message. Runtime(ms) is the median, GFLOPs by it.
output::Table profile_table(std::span<const ProfileRow> rows, const Tags& tags,
                            const output::Peaks& peaks);

// Returns the data of output::report_page(): a roofline, a heat map over two dimensions that were
// swept, a table. `store` is named on the page.
nlohmann::ordered_json profile_page_data(std::span<const ProfileRow> rows,
                                         const output::Peaks& peaks, const std::string& store);

// A test case for each dispatch: failed where its verification did, skipped where there was none.
// Libraries are no cases.
std::string junit_text(std::span<const ProfileRow> rows);

}  // namespace hone::profiler
