#include "output/tuning_summary.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "measure/statistics.h"
#include "output/proof_text.h"

namespace hone::output {
namespace {

// Most rows of tuned dispatches, reasons of skipped ones, results that are compared, and phases.
constexpr std::size_t kMostTuned = 15, kMostReasons = 5, kMostResults = 3, kMostPhases = 5;

std::size_t line_count(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

// "3 dispatches", "1 dispatch".
std::string dispatches_of(std::size_t count) {
  return fmt::format("{} dispatch{}", count, count == 1 ? "" : "es");
}

// Verdict of a run that tunes dispatches and proves nothing in the program.
std::string dispatches_verdict(const tune::TuningResult& result) {
  std::size_t tuned = 0, faster = 0;
  for (const tune::ProgramTuningResult& session : result.at_sizes)
    for (const tune::TunedDispatch& each : session.tuned) {
      ++tuned;
      faster += each.payload ? 1 : 0;
    }
  return fmt::format("{} of {} tuned beat their default. The whole program was not timed.\n",
                     dispatches_of(faster), tuned);
}

std::string verdict_text(const TuningSummary& summary) {
  const tune::TuningResult& result = summary.result;
  std::string text = wrong_by_default_text(result, summary.program);
  text += tune::last_line(result.outcome);
  text += closing_summary(result, (summary.out / "compile_flags.txt").string());
  if (!result.whole_program && result.outcome.outcome == tune::RunOutcome::kFaster)
    text += dispatches_verdict(result);
  return text;
}

void add_rounds(Table& table, const std::string& label, const std::vector<double>& seconds) {
  if (seconds.empty()) return;
  const measure::Summary rounds = measure::summarise(seconds);
  table.add({{label, ""},
             {rounds.n, ""},
             time_cell(rounds.median),
             time_cell(rounds.mean),
             time_cell(rounds.cov * rounds.mean),
             number_cell(100 * rounds.cov, " %", 1)});
}

// The rounds of the proof. Several sizes have a row each of the default and of the candidate.
std::string rounds_text(const tune::TuningResult& result, std::size_t width) {
  if (!result.candidate || result.rounds.empty()) return "";
  Table table({{"build", "proof: one call"},
               {"n", "n", kRight},
               {"median", "median", kRight},
               {"mean", "mean", kRight},
               {"deviation", "std dev", kRight},
               {"cv", "cv", kRight}});
  const std::vector<std::string> sizes = names_of_sizes(result);
  for (std::size_t i = 0; i < std::min(result.rounds.size(), kMostResults); ++i) {
    const std::string at = i < sizes.size() ? " at " + sizes[i] : "";
    add_rounds(table, "default" + at, result.rounds[i].base);
    if (result.candidate->without_spec)
      add_rounds(table, result.candidate->without_spec->label + at, result.rounds[i].flags);
    add_rounds(table, result.candidate->label + at, result.rounds[i].chosen);
  }
  return table.to_text(width);
}

std::string outputs_lines(const tune::TuningResult& result) {
  if (!result.candidate) return "";
  if (!result.unchecked_outputs.empty())
    return "outputs: not comparable; each dispatch was verified instead (--verbose)\n";
  std::string text;
  const std::vector<measure::ArrayDifference>& all = result.candidate->differences;
  for (std::size_t i = 0; i < std::min(all.size(), kMostResults); ++i) {
    const measure::ArrayDifference& each = all[i];
    const std::string of = counted(each.elements);
    text += fmt::format("outputs: result {}: ", i);
    text +=
        each.different == 0
            ? fmt::format("all {} elements equal the default's\n", of)
            : fmt::format("{} of {} elements differ, largest {:.2g} ({:.3g} ulp), mean {:.2g}\n",
                          counted(each.different), of, each.largest, each.largest_ulp, each.mean);
  }
  if (all.size() > kMostResults)
    text += fmt::format("outputs: {} more results (--verbose)\n", all.size() - kMostResults);
  return text;
}

std::string command_text(std::string_view title, const std::string& command, std::size_t width) {
  return fmt::format("{:<10}{}\n", title, wrapped(command, width - 10, "              ", " \\"));
}

// Written files, and the commands that use them.
std::string files_text(const TuningSummary& summary, std::size_t width) {
  const tune::TuningResult& result = summary.result;
  const std::filesystem::path& out = summary.out;
  std::string text;
  if (result.best && (!result.best->flags.empty() || result.best->uses_spec()))
    text += command_text("use it:", summary.use, width);
  if (!result.proof_script.empty())
    text += command_text("check it:", "sh " + shell_word(result.proof_script.string()), width);
  std::vector<std::string> files;
  if (summary.imported) files.push_back(summary.program + " (imported)");
  const bool ships = result.best && result.best->uses_spec();
  if (!result.spec.empty())
    files.push_back((out / "tuning_spec.mlir").string() +
                    (!result.best || ships ? "" : " (no proved gain: not recommended)"));
  if (!result.replaced.empty())
    files.push_back(fmt::format("{} (kernels that replace the compiler's: {})",
                                (out / "kernels").string(), result.replaced.size()));
  files.push_back((out / "report.html").string());
  return text + wrapped(fmt::format("{:<10}{}\n", "written:", fmt::join(files, ", ")), width,
                        "          ");
}

std::vector<tune::NotTuned> skipped_in(const tune::TuningResult& result) {
  std::vector<tune::NotTuned> skipped;
  const auto add = [&](const std::vector<tune::LeftOut>& entries) {
    for (const tune::LeftOut& each : entries)
      skipped.push_back({each.dispatch, "not in the spec: " + each.reason});
  };
  for (const tune::ProgramTuningResult& session : result.at_sizes) {
    skipped.insert(skipped.end(), session.not_tuned.begin(), session.not_tuned.end());
    add(session.proven.left_out);
  }
  if (result.best) add(result.best->left_out);
  return skipped;
}

std::string gain_line(const tune::TuningResult& result) {
  std::string text;
  for (const tune::ProgramGain& gain : result.gains) text += words_of_gain(gain);
  return result.gains.size() == 1 && !text.empty() ? text + "\n" : "";
}

}  // namespace

std::string skipped_text(const std::vector<tune::NotTuned>& skipped, std::size_t width) {
  struct Group {
    std::string reason;
    std::size_t count = 0;
    double share = 0;
  };
  std::map<std::string, Group> by_reason;
  for (const tune::NotTuned& each : skipped) {
    const std::string reason(reason_of(each.reason));
    Group& group = by_reason[without_numbers(reason)];
    if (group.reason.empty()) group.reason = reason;
    ++group.count;
    group.share += each.share;
  }
  std::vector<Group> groups;
  for (auto& [key, group] : by_reason) groups.push_back(std::move(group));
  std::ranges::stable_sort(groups, [](const Group& a, const Group& b) {
    return std::pair(a.share, a.count) > std::pair(b.share, b.count);
  });
  const bool many = groups.size() > kMostReasons;
  const std::size_t listed = many ? kMostReasons - 1 : groups.size();
  std::string text;
  Group others;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const Group& group = groups[i];
    if (i >= listed) {
      others.count += group.count;
      others.share += group.share;
      continue;
    }
    const std::string share =
        group.share > 0 ? fmt::format(" ({:.1f} % of the time)", 100 * group.share) : "";
    text += cut_at_end(
                fmt::format("skipped:  {}{}: {}", dispatches_of(group.count), share, group.reason),
                width) +
            "\n";
  }
  if (many)
    text += cut_at_end(fmt::format("skipped:  {} more, {} other reasons (--verbose)", others.count,
                                   groups.size() - listed),
                       width) +
            "\n";
  return text;
}

std::string time_text(const std::vector<trial::TimeRow>& rows, std::size_t width) {
  std::vector<trial::TimeRow> phases;
  double all = 0;
  for (const trial::TimeRow& row : rows) {
    if (row.of != trial::kSessionTime) continue;
    all += row.seconds;
    phases.push_back(row);
  }
  if (phases.empty()) return "";
  std::ranges::stable_sort(phases, std::greater(), &trial::TimeRow::seconds);
  std::vector<std::string> words;
  double others = all;
  for (std::size_t i = 0; i < std::min(phases.size(), kMostPhases); ++i) {
    others -= phases[i].seconds;
    words.push_back(fmt::format("{} {}", phases[i].phase, format_duration(phases[i].seconds)));
  }
  words.push_back("rest " + format_duration(std::max(0.0, others)));
  return wrapped(fmt::format("time:     {}: {}\n", format_duration(all), fmt::join(words, ", ")),
                 width, "          ");
}

std::string list_summary(const ListSummary& summary, std::size_t width) {
  constexpr std::size_t kMostListed = 25;
  std::string text = wrapped(
      fmt::format("{} of {} beat their default\nresults:  {}\nreport:   {}\n\n", summary.faster,
                  summary.results.size(), summary.file.string(), summary.report.string()),
      width);
  text += summary.results.first_text(kMostListed, width, " (--verbose)");
  return readable(text + "\n" + skipped_text(summary.skipped, width) +
                  time_text(summary.time, width));
}

std::string tuning_summary(const TuningSummary& summary, std::size_t width) {
  const tune::TuningResult& result = summary.result;
  const auto part = [](std::string text) { return text.empty() ? text : text + "\n"; };
  const std::string above =
      part(wrapped(verdict_text(summary), width, "      ")) +
      part(rounds_text(result, width) + wrapped(outputs_lines(result) + gain_line(result), width)) +
      part(files_text(summary, width));
  const std::string below =
      skipped_text(skipped_in(result), width) + time_text(summary.time, width);
  std::string dispatches;
  const std::size_t used = line_count(above) + line_count(below) + 3;
  const std::size_t rows =
      std::min(kMostTuned, kMostLines > used ? kMostLines - used : std::size_t{1});
  if (!summary.tuned.empty()) dispatches = summary.tuned.first_text(rows, width, " (--verbose)");
  return readable(above + part(dispatches) + below);
}

}  // namespace hone::output
