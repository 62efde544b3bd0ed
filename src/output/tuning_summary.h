// Closing screen of hone tune: the verdict, how to use what was found, and what was not tuned. At
// most kMostLines lines; --verbose and the report have the rest.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "output/screen.h"
#include "output/table.h"
#include "trial/time_budget.h"
#include "tune/tuning_run.h"

namespace hone::output {

inline constexpr std::size_t kMostLines = 40;

struct TuningSummary {
  const tune::TuningResult& result;
  std::string program;        // that was compiled
  bool imported = false;      // into the folder, from another format
  std::string use;            // command that compiles it with the written flags
  std::filesystem::path out;  // folder of the written files
  Table tuned;                // tuned_table()
  std::vector<trial::TimeRow> time = {};
};

// Returns the screen in lines of at most `width` columns. Only single words and commands may be
// longer. The text is UTF-8, whatever bytes the program's names have.
std::string tuning_summary(const TuningSummary& summary, std::size_t width = kSummaryWidth);

// Closing screen of a list of dispatches, each tuned for itself.
struct ListSummary {
  Table results;
  std::size_t faster = 0;      // results that beat their default
  std::filesystem::path file;  // that has all results
  std::filesystem::path report;
  const std::vector<tune::NotTuned>& skipped;
  std::vector<trial::TimeRow> time = {};
};
std::string list_summary(const ListSummary& summary, std::size_t width = kSummaryWidth);

// Returns a line per reason, those with the largest share of the time first and the rest together:
// "skipped: 2 dispatches (47.6 % of the time): no budget left". Each takes one line of the screen.
std::string skipped_text(const std::vector<tune::NotTuned>& skipped, std::size_t width);

// Returns "time: 81 s: measure 25 s, program 18 s, ...": the phases of a session, longest first.
std::string time_text(const std::vector<trial::TimeRow>& rows, std::size_t width);

}  // namespace hone::output
