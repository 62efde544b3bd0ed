#include "output/comparison_report.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "output/screen.h"

namespace hone::output {
namespace {

// Infinity becomes null: JSON has none.
nlohmann::json number(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json();
}

Table table_of(const ComparisonReport& report) {
  Table table({{"what", ""},
               {"rounds", "rounds", kRight},
               {"a_seconds", "A", kRight},
               {"b_seconds", "B", kRight},
               {"ratio", "B / A [interval]", kRight},
               {"verdict", "B is"}});
  for (const tune::ComparedPair& pair : report.pairs) {
    const measure::PairedComparison& result = pair.result;
    if (pair.a_seconds.empty()) {
      table.add({{pair.what, ""},
                 {0, "-"},
                 {nullptr, "-"},
                 {nullptr, "-"},
                 {nullptr, "-"},
                 {"not compared", ""}});
      continue;
    }
    const double a = measure::median(pair.a_seconds), b = measure::median(pair.b_seconds);
    table.add({{pair.what, ""},
               {result.rounds, ""},
               {a, format_duration(a)},
               {b, format_duration(b)},
               {result.ratio, fmt::format("{:.4f} [{:.4f}, {:.4f}]", result.ratio,
                                          result.interval.low, result.interval.high)},
               {measure::name_of(result.verdict), ""}});
  }
  return table;
}

double percent(double share) {
  return 100 * share;
}

// Returns the largest of the pairs' smallest detectable differences: every pair would show it.
double detectable(const ComparisonReport& report) {
  double largest = 0;
  for (const tune::ComparedPair& pair : report.pairs)
    if (!pair.a_seconds.empty())
      largest = std::max(largest, measure::smallest_difference(measure::half_width(pair.result),
                                                               report.statistics));
  return largest;
}

std::string machine_text(const device::MachineState& state) {
  std::string text = fmt::format("load {:.2f}", state.load_1min);
  if (state.background)
    text += fmt::format(", others took {:.0f} % of the cores", percent(*state.background));
  for (const device::CoreState& core : state.cores) {
    std::string facts;
    if (core.megahertz) facts += fmt::format(" {:.0f} MHz", *core.megahertz);
    if (!core.governor.empty()) facts += fmt::format(" governor {}", core.governor);
    if (core.stolen && *core.stolen >= 0.005)
      facts += fmt::format(" {:.1f} % stolen", percent(*core.stolen));
    if (!facts.empty()) text += fmt::format(", core {}:{}", core.core, facts);
  }
  for (const device::BusyProcess& process : state.processes)
    text += fmt::format(", {} (process {}) {:.0f} % of a core", process.name, process.pid,
                        percent(process.share));
  return text;
}

}  // namespace

std::string text_of(const ComparisonReport& report, std::size_t width) {
  std::string text = table_of(report).to_text(width) + "\n";
  for (const tune::ComparedPair& pair : report.pairs) {
    text += fmt::format("{}:\n  A  {}\n  B  {}\n", pair.what, pair.a, pair.b);
    if (!pair.note.empty()) text += fmt::format("  {}\n", pair.note);
    if (!pair.failure.empty()) text += fmt::format("  failed: {}\n", pair.failure);
    if (!pair.a_seconds.empty())
      text += fmt::format("  machine meanwhile: {}\n", machine_text(pair.machine));
  }
  text += fmt::format(
      "false-positive rate{}: at most {:g} %; differences up to {:g} % count as none\n",
      report.pairs.size() > 1 ? fmt::format(" of all {} together", report.pairs.size()) : "",
      percent(report.statistics.alpha), percent(report.statistics.threshold));
  if (const double least = detectable(report); std::isfinite(least) && least > 0)
    text += fmt::format(
        "detectable: a slowdown of {:.1f} % in 95 of 100 comparisons, at the noise seen\n",
        percent(least));
  return wrapped(text, width, "      ");
}

nlohmann::json json_of(const ComparisonReport& report) {
  nlohmann::json document{
      {"alpha", report.statistics.alpha},
      {"threshold", report.statistics.threshold},
      {"machine", {{"noise", report.machine.noise}, {"state", report.machine.state}}},
      {"comparisons", nlohmann::json::array()}};
  for (const tune::ComparedPair& pair : report.pairs) {
    const measure::PairedComparison& result = pair.result;
    const bool measured = !pair.a_seconds.empty();
    document["comparisons"].push_back(
        {{"what", pair.what},
         {"a", pair.a},
         {"b", pair.b},
         {"verdict", measured ? nlohmann::json(measure::name_of(result.verdict)) : nullptr},
         {"regressed", pair.regressed()},
         {"rounds", pair.a_seconds.size()},
         {"block", result.block},
         {"a_median_seconds", measured ? number(measure::median(pair.a_seconds)) : nullptr},
         {"b_median_seconds", measured ? number(measure::median(pair.b_seconds)) : nullptr},
         {"ratio", measured ? number(result.ratio) : nullptr},
         {"low", measured ? number(result.interval.low) : nullptr},
         {"high", measured ? number(result.interval.high) : nullptr},
         {"p_value", measured ? number(result.p_value) : nullptr},
         {"smallest_difference", measured ? number(measure::smallest_difference(
                                                measure::half_width(result), report.statistics))
                                          : nullptr},
         {"note", pair.note},
         {"failure", pair.failure},
         {"a_seconds", pair.a_seconds},
         {"b_seconds", pair.b_seconds},
         {"machine", pair.machine}});
  }
  return document;
}

}  // namespace hone::output
