#include "cli/compare_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/text.h"
#include "measure/array_difference.h"
#include "measure/verification.h"
#include "output/json_text.h"
#include "output/proof_text.h"
#include "output/screen.h"
#include "output/table.h"
#include "problem/npy.h"
#include "tune/compare/verify.h"
#include "tune/program/program_outputs.h"

namespace hone::cli {
namespace {

Result<problem::Array> read_array(const std::string& path) {
  HONE_ASSIGN(const std::string bytes, read_file(path));
  auto array = problem::from_npy(bytes);
  if (!array) return input_error("'{}': {}", path, array.error().message);
  return array;
}

using Record = std::vector<std::string>;

// Parses CSV (RFC 4180): fields in quotes may hold commas, line ends and doubled quotes.
std::vector<Record> records_of(std::string_view csv) {
  std::vector<Record> records;
  Record record{""};
  bool quoted = false;
  for (std::size_t i = 0; i < csv.size(); ++i) {
    const char c = csv[i];
    if (quoted && c == '"' && i + 1 < csv.size() && csv[i + 1] == '"')
      record.back() += csv[++i];
    else if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      record.emplace_back();
    else if (c == '\n' && !quoted) {
      records.push_back(std::move(record));
      record = {""};
    } else if (c != '\r' || quoted)
      record.back() += c;
  }
  if (record.size() > 1 || !record.front().empty()) records.push_back(std::move(record));
  return records;
}

struct ComparedRow {
  std::string verification;
  std::optional<double> milliseconds;
};
using Rows = std::map<std::string, ComparedRow>;  // by provider, operation, configuration

Result<Rows> rows_of(const std::string& path) {
  HONE_ASSIGN(const std::string bytes, read_file(path));
  const std::vector<Record> records = records_of(bytes);
  const auto column = [&](std::string_view name) -> std::size_t {
    if (records.empty()) return std::string::npos;
    const auto at = std::ranges::find(records.front(), name);
    return at == records.front().end() ? std::string::npos
                                       : static_cast<std::size_t>(at - records.front().begin());
  };
  constexpr std::string_view kKeys[] = {"Provider", "Operation", "Tile config", "Core class",
                                        "Instruction class"};
  const std::size_t verification = column("Verification"), runtime = column("Runtime(ms)");
  std::vector<std::size_t> keys;
  for (const std::string_view key : kKeys) keys.push_back(column(key));
  if (verification == std::string::npos || runtime == std::string::npos ||
      std::ranges::count(keys, std::string::npos) > 0)
    return input_error(
        "'{}' is no report of hone profile: its heading has to name Provider, Operation, Tile "
        "config, Core class, Instruction class, Verification and Runtime(ms)",
        path);
  Rows rows;
  for (std::size_t i = 1; i < records.size(); ++i) {
    const Record& record = records[i];
    if (record.size() != records.front().size())
      return input_error("'{}': record {} has {} fields, the heading {}", path, i + 1,
                         record.size(), records.front().size());
    std::string name;
    for (const std::size_t key : keys)
      if (record[key] != "N/A") name += (name.empty() ? "" : " ") + record[key];
    ComparedRow& row = rows[name];
    row.verification = record[verification];
    char* end = nullptr;
    const double time = std::strtod(record[runtime].c_str(), &end);
    const bool is_time = end != record[runtime].c_str() && std::isfinite(time) && time > 0;
    row.milliseconds = is_time ? std::optional(time) : std::nullopt;
  }
  return rows;
}

std::string change_of(const ComparedRow& before, const ComparedRow& after, double threshold) {
  if (before.verification == "SUCCESS" && after.verification == "FAILED") return "now wrong";
  if (before.verification == "FAILED" && after.verification == "SUCCESS") return "now right";
  if (!before.milliseconds || !after.milliseconds) return "";
  const double ratio = *after.milliseconds / *before.milliseconds;
  if (ratio > 1 + threshold) return "slower";
  return ratio * (1 + threshold) < 1 ? "faster" : "";
}

output::Cell time_of(const ComparedRow* row) {
  if (row == nullptr || !row->milliseconds) return {nullptr, "-"};
  return {*row->milliseconds, fmt::format("{:.4f}", *row->milliseconds)};
}

}  // namespace

CommandResult compare_arrays(const ComparedFiles& files) {
  const std::string &expected_file = files.operands[0], &got_file = files.operands[1];
  HONE_ASSIGN(const problem::Array expected, read_array(expected_file));
  HONE_ASSIGN(const problem::Array got, read_array(got_file));
  HONE_ASSIGN(const measure::ArrayDifference difference, measure::difference_of(got, expected));
  measure::Tolerance tolerance = tune::program_tolerance(expected);
  if (files.atol || files.rtol)
    tolerance = {files.atol.value_or(0), files.rtol.value_or(0), "as given"};
  HONE_ASSIGN(const measure::Comparison comparison, measure::compare(got, expected, tolerance));
  const double share = difference.elements == 0 ? 0
                                                : static_cast<double>(difference.different) /
                                                      static_cast<double>(difference.elements);
  if (files.json) {
    nlohmann::json document = comparison;
    document.update(output::difference_json(difference));
    document.update({{"expected_file", expected_file},
                     {"got_file", got_file},
                     {"type", problem::to_string(expected.type)},
                     {"different_share", share},
                     {"tolerance", tune::in_words(tolerance)}});
    output::print_document(std::move(document));
    return comparison.right ? 0 : 1;
  }
  std::string text = fmt::format("{} against {}, {}\n", got_file, expected_file,
                                 problem::to_string(expected.type));
  text += fmt::format("  different        {} of {} elements ({:.3g} %)\n",
                      output::counted(difference.different), output::counted(difference.elements),
                      100 * share);
  text += fmt::format("  absolute error   largest {:.4g}, mean {:.4g}\n", difference.largest,
                      difference.mean);
  text += fmt::format("  relative error   largest {:.4g}\n", difference.largest_relative);
  text += fmt::format("  ulp              largest {:.6g}\n", difference.largest_ulp);
  if (difference.different > 0)
    text += fmt::format("  by ulp           {}\n", measure::ulp_text(difference));
  if (comparison.nan_count > 0)
    text += fmt::format("  NaN              in {} elements where none is expected\n",
                        output::counted(comparison.nan_count));
  text += fmt::format("  tolerance        {}\n{}\n", tune::in_words(tolerance),
                      measure::describe(comparison));
  fmt::print("{}", output::wrapped(text, output::screen_width(), "                   "));
  return comparison.right ? 0 : 1;
}

CommandResult compare_profiles(const ComparedFiles& files) {
  HONE_ASSIGN(const Rows before, rows_of(files.operands[0]));
  HONE_ASSIGN(const Rows after, rows_of(files.operands[1]));
  const double threshold = files.threshold;  // smaller changes are not listed
  using enum output::Align;
  output::Table table({{"dispatch", "dispatch"},
                       {"old_ms", "old ms", kRight},
                       {"new_ms", "new ms", kRight},
                       {"ratio", "new / old", kRight},
                       {"change", "change"}});
  std::size_t shared = 0, changed = 0;
  const auto add = [&](const std::string& name, const ComparedRow* was, const ComparedRow* is,
                       const std::string& change) {
    output::Cell ratio{nullptr, "-"};
    if (was != nullptr && is != nullptr && was->milliseconds && is->milliseconds) {
      const double value = *is->milliseconds / *was->milliseconds;
      ratio = {value, fmt::format("{:.3f}", value)};
    }
    table.add({{name, ""}, time_of(was), time_of(is), ratio, {change, ""}});
    ++changed;
  };
  for (const auto& [name, row] : before) {
    const auto now = after.find(name);
    if (now == after.end()) {
      add(name, &row, nullptr, "only in the old report");
      continue;
    }
    ++shared;
    const std::string change = change_of(row, now->second, threshold);
    if (!change.empty()) add(name, &row, &now->second, change);
  }
  for (const auto& [name, row] : after)
    if (!before.contains(name)) add(name, nullptr, &row, "only in the new report");
  if (files.json) {
    output::print_document(
        {{"shared", shared}, {"threshold", threshold}, {"changes", table.to_json()}});
    return 0;
  }
  if (!table.empty()) fmt::print("{}\n", table.to_text());
  fmt::print(
      "{} rows are in both reports; {} changed by more than {:g} %, in their verification, or are "
      "in one only.\nThese are times of two runs. For a verdict compare their stores: hone "
      "measures both side by side.\n",
      shared, changed, 100 * threshold);
  return 0;
}

}  // namespace hone::cli
