#include "output/time_report.h"

#include <map>

#include "base/text.h"

namespace hone::output {

Table time_table(trial::TimeBudget& time) {
  Table table({{"of", "time of"},
               {"phase", "phase"},
               {"count", "count", Align::kRight},
               {"seconds", "time", Align::kRight},
               {"share", "share", Align::kRight}});
  const std::vector<trial::TimeRow> rows = time.rows();
  std::map<std::string_view, double> totals;
  for (const trial::TimeRow& row : rows) totals[row.of] += row.seconds;
  for (const trial::TimeRow& row : rows) {
    const double share = totals[row.of] > 0 ? row.seconds / totals[row.of] : 0;
    if (row.seconds <= 0) continue;
    table.add({{row.of, ""},
               {row.phase, ""},
               {row.count, ""},
               {row.seconds, format_duration(row.seconds)},
               {share, fmt::format("{:.1f} %", 100 * share)}});
  }
  return table;
}

}  // namespace hone::output
