#include "output/accuracy_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <span>

namespace hone::output {
namespace {

using measure::ArrayDifference;
using measure::OutputAccuracy;

std::vector<Column> columns() {
  std::vector<Column> columns{{"dispatch", "off by (ulp)"},
                              {"provider", "by"},
                              {"binding", "binding", kRight, false},
                              {"elements", "elements", kRight},
                              {"exact", "0", kRight}};
  for (const auto& [name, count] : measure::ulp_histogram(ArrayDifference{}))
    columns.push_back({"off_by_" + name, name, kRight});
  columns.push_back({"largest_error", "largest error", kRight});
  columns.push_back({"first", "first that is off"});
  columns.push_back({"sums", "sums"});
  return columns;
}

Cell share_cell(std::int64_t count, std::int64_t of) {
  const double percent = of > 0 ? 100 * static_cast<double>(count) / static_cast<double>(of) : 0;
  return {count, count == 0 ? "" : fmt::format("{:.3g} %", percent)};
}

Cell first_cell(const OutputAccuracy& accuracy) {
  if (accuracy.first < 0) return {nullptr, ""};
  return {{{"element", accuracy.first}, {"got", accuracy.got}, {"expected", accuracy.expected}},
          fmt::format("element {}: {:.6g}, exactly {:.9g}", accuracy.first, accuracy.got,
                      accuracy.expected)};
}

void add(Table& table, const std::string& dispatch, const Cell& maker,
         const OutputAccuracy& accuracy, const std::string& sums) {
  const ArrayDifference& difference = accuracy.difference;
  std::vector<Cell> cells{{dispatch, ""},
                          maker,
                          {accuracy.binding, ""},
                          {difference.elements, ""},
                          share_cell(difference.elements - difference.different,
                                     difference.elements)};
  for (const auto& [name, count] : measure::ulp_histogram(difference))
    cells.push_back(share_cell(count, difference.elements));
  cells.push_back({difference.largest, fmt::format("{:.2g}", difference.largest)});
  cells.push_back(first_cell(accuracy));
  cells.push_back({sums, ""});
  table.add(std::move(cells));
}

}  // namespace

Table accuracy_table(const tune::TuningResult& result, std::size_t most) {
  struct Pair {
    const tune::TunedDispatch* tuned;
    const OutputAccuracy *compilers, *kernel;
    double off() const {
      return static_cast<double>(kernel->difference.different) /
             static_cast<double>(std::max<std::int64_t>(1, kernel->difference.elements));
    }
  };
  std::vector<Pair> pairs;
  for (const tune::ProgramTuningResult& session : result.at_sizes)
    for (const tune::TunedDispatch& tuned : session.tuned) {
      if (!tuned.accuracy) continue;
      const measure::AccuracyBeside& beside = *tuned.accuracy;
      for (std::size_t i = 0; i < std::min(beside.compilers.size(), beside.kernel.size()); ++i)
        pairs.push_back({&tuned, &beside.compilers[i], &beside.kernel[i]});
    }
  std::ranges::stable_sort(pairs, std::greater(), &Pair::off);
  Table table(columns());
  for (const Pair& each : std::span(pairs).first(std::min(most, pairs.size()))) {
    add(table, each.tuned->dispatch->name, {"compiler", "default"}, *each.compilers,
        each.tuned->accuracy->compilers_sums);
    add(table, each.tuned->dispatch->name, maker_cell(each.tuned->payload->replacing),
        *each.kernel, each.tuned->accuracy->kernel_sums);
  }
  return table;
}

}  // namespace hone::output
