// hone compare: is B slower than A? Two files of results are compared too: arrays, and reports of
// hone profile or of the old dispatch profiler.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/common_options.h"
#include "cli/option_layout.h"
#include "device/cpu/machine_state.h"
#include "measure/array_difference.h"
#include "measure/runner_requests.h"
#include "measure/verification.h"
#include "output/comparison_report.h"
#include "output/json_text.h"
#include "output/proof_text.h"
#include "output/screen.h"
#include "output/status_line.h"
#include "output/table.h"
#include "provider/iree/iree_provider.h"
#include "session/input_program.h"
#include "session/places.h"
#include "session/runtime_options.h"
#include "session/toolchain.h"
#include "tune/compare/compare.h"
#include "tune/compare/verify.h"
#include "tune/program/program_outputs.h"
#include "tune/services/session_steps.h"

namespace hone::cli {
namespace {

struct CompareCommand {
  ToolchainOptions toolchain;
  tune::CompareOptions compare;
  RuntimeOptions runtime;
  CoreOptions cores;
  std::vector<std::string> operands;  // A and B
  std::string program;
  std::vector<std::string> dispatches;
  std::vector<std::string> configurations;
  std::string cache = "warm";
  std::optional<double> atol, rtol;  // of arrays
  bool trust = false;
  bool json = false;
  bool quiet = false;
  bool plain = false;
  std::string device = {};
};

enum class Kind { kModules, kSpecs, kConfigurations, kStores, kArrays, kProfiles };
using enum Kind;

constexpr std::string_view kUses =
    "hone compare a.vmfb b.vmfb; hone compare a.db b.db; hone compare a_spec.mlir b_spec.mlir "
    "--program P (or 'none' for no spec); hone compare --program P --dispatch NAME --config A "
    "--config B (or 'default'); hone compare expected.npy got.npy; hone compare old.csv new.csv";

constexpr std::string_view kSqliteHead = "SQLite format 3";

// Returns the kind of an operand, by its content or its file name.
Result<Kind> kind_of(const std::string& operand) {
  if (operand == "none") return kSpecs;
  std::ifstream file(operand, std::ios::binary);
  if (!file) return input_error("cannot read '{}': {}", operand, std::strerror(errno));
  std::string head(kSqliteHead.size(), '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  if (head == kSqliteHead) return kStores;
  const std::filesystem::path path = operand;
  if (path.extension() == ".vmfb") return kModules;
  if (path.extension() == ".mlir") return kSpecs;
  if (path.extension() == ".npy") return kArrays;
  if (path.extension() == ".csv") return kProfiles;
  return input_error(
      "'{}' is neither a module (.vmfb), a store of hone, a spec (.mlir), an array (.npy), nor a "
      "report of hone profile (.csv)",
      operand);
}

Result<Kind> kind_of(const CompareCommand& options) {
  if (!options.configurations.empty()) {
    if (options.configurations.size() != 2 || !options.operands.empty() || options.program.empty())
      return input_error("--config compares two configurations of a dispatch of --program: {}",
                         kUses);
    if (options.dispatches.size() > 1)
      return input_error("--config compares configurations of one dispatch: give --dispatch once");
    return kConfigurations;
  }
  if (options.operands.size() != 2)
    return input_error("compare takes two operands, A and B, got {}: {}", options.operands.size(),
                       kUses);
  HONE_ASSIGN(const Kind a, kind_of(options.operands[0]));
  HONE_ASSIGN(const Kind b, kind_of(options.operands[1]));
  if (a != b)
    return input_error("'{}' and '{}' are of different kinds: {}", options.operands[0],
                       options.operands[1], kUses);
  if (a == kSpecs && options.program.empty())
    return input_error("specs are compared on a program: give --program FILE");
  return a;
}

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

// Prints the comparison of two .npy files; returns 1 if an element is off by more than the
// tolerance allows, which without --atol and --rtol is that of programs. Input errors: a file that
// is no .npy file, arrays of different types.
CommandResult compare_arrays(const CompareCommand& options) {
  const std::string &expected_file = options.operands[0], &got_file = options.operands[1];
  HONE_ASSIGN(const problem::Array expected, read_array(expected_file));
  HONE_ASSIGN(const problem::Array got, read_array(got_file));
  HONE_ASSIGN(const measure::ArrayDifference difference, measure::difference_of(got, expected));
  measure::Tolerance tolerance = tune::program_tolerance(expected);
  if (options.atol || options.rtol)
    tolerance = {options.atol.value_or(0), options.rtol.value_or(0), "as given"};
  HONE_ASSIGN(const measure::Comparison comparison, measure::compare(got, expected, tolerance));
  const double share = difference.elements == 0 ? 0
                                                : static_cast<double>(difference.different) /
                                                      static_cast<double>(difference.elements);
  if (options.json) {
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

// Prints the dispatches of two reports of hone profile, or of the old dispatch profiler, whose time
// or verification changed, and those that only one report has. Rows are matched by provider,
// operation and configuration. The exit code is 0 whatever changed: the times are from two runs
// that were not interleaved. Input errors: a file that is no such report.
CommandResult compare_profiles(const CompareCommand& options) {
  HONE_ASSIGN(const Rows before, rows_of(options.operands[0]));
  HONE_ASSIGN(const Rows after, rows_of(options.operands[1]));
  const double threshold = options.compare.statistics.threshold;  // smaller changes are not listed
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
  if (options.json) {
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

Result<std::vector<tune::ComparedPair>> compare(const CompareCommand& options, Kind kind,
                                                const tune::CompareContext& context,
                                                Toolchain* toolchain) {
  if (kind == kStores)
    return tune::compare_stores(context, toolchain == nullptr ? nullptr : &toolchain->compiler(),
                                options.operands[0], options.operands[1], options.dispatches);
  Result<tune::ComparedPair> pair;
  if (kind == kModules)
    pair = tune::compare_modules(context, options.operands[0], options.operands[1]);
  else if (kind == kSpecs)
    pair = tune::compare_specs(context, toolchain->compiler(), options.program, options.operands[0],
                               options.operands[1]);
  else
    pair =
        tune::compare_configurations(context, toolchain->compiler(), options.program,
                                     options.dispatches.empty() ? "" : options.dispatches.front(),
                                     options.configurations[0], options.configurations[1]);
  if (!pair) return tl::unexpected(std::move(pair).error());
  return std::vector{std::move(*pair)};
}

Status complete(CompareCommand& options) {
  tune::CompareOptions& compare = options.compare;
  compare.function = options.runtime.function;
  HONE_ASSIGN(compare.inputs, given_arguments(options.runtime));
  HONE_ASSIGN(compare.runtime_flags, runtime_flags(options.runtime));
  compare.flags = compile_flags(options.toolchain);
  compare.own_flags = options.toolchain.flags;
  compare.trust = options.trust ? store::Trust::kAnyone : store::Trust::kOwn;
  compare.reference_flags = reference_flags(options.toolchain);
  compare.cache = options.cache == "cold" ? measure::CacheMode::kCold : measure::CacheMode::kWarm;
  if (compare.find <= compare.statistics.threshold)
    return input_error(
        "--find {:g} must be above --threshold {:g}: smaller differences are not reported",
        compare.find, compare.statistics.threshold);
  const std::size_t fewest = measure::fewest_rounds(compare.statistics.alpha);
  if (compare.rounds < fewest)
    return input_error("--rounds {}: --alpha {:g} needs at least {} rounds", compare.rounds,
                       compare.statistics.alpha, fewest);
  return {};
}

// Reads the program, and sets what it needs to run as a whole.
Status use_program(CompareCommand& options, const Toolchain& toolchain, Kind kind) {
  const std::string given = options.program;
  HONE_ASSIGN(const InputProgram input, read_program(given, toolchain));
  print_notes_of(input);
  options.program = input.path;
  if (kind != kSpecs) return {};
  HONE_ASSIGN(options.compare.runtime_flags,
              flags_with_parameters(options.runtime, given, input,
                                    std::filesystem::temp_directory_path(), options.compare.seed));
  return {};
}

CommandResult run_compare(CompareCommand& options) {
  HONE_TRY(read_flags(options.toolchain));
  HONE_ASSIGN(const Kind kind, kind_of(options));
  if (kind == kArrays) return compare_arrays(options);
  if (kind == kProfiles) return compare_profiles(options);
  HONE_ASSIGN(const std::vector<int> cores, choose_cores(options.cores));
  tune::StoredCode code;
  if (kind == kStores) {
    HONE_ASSIGN(code,
                tune::stored_code(options.operands[0], options.operands[1], options.dispatches));
    if (options.device.empty()) options.device = device_for_code(code.formats);
  }
  HONE_ASSIGN(options.compare.place,
              choose_place(options.device, options.toolchain, options.cores));
  HONE_TRY(complete(options));
  const device::Place& place = options.compare.place;
  if (kind == kModules || kind == kSpecs) HONE_TRY(check_runs_programs(place));
  HONE_ASSIGN(const std::vector<device::LockFile> held, lease_here({&place, 1}));
  // Modules and stores hold compiled code, so no compiler is started, unless a store's code is
  // somebody else's.
  bool compiles = kind == kSpecs || kind == kConfigurations;
  if (kind == kStores) compiles = !options.trust && !code.is_own;
  std::optional<Toolchain> toolchain;
  std::optional<worker::TunerFolder> folder;
  std::optional<StopSignal> stop;
  iree::Installation installation;
  if (compiles) {
    HONE_ASSIGN(Toolchain started, Toolchain::start(options.toolchain));
    toolchain.emplace(std::move(started));
    installation = toolchain->installation();
    options.compare.stop_fd = toolchain->stop_fd();
    if (!options.program.empty()) HONE_TRY(use_program(options, *toolchain, kind));
  } else {
    if (kind == kModules) {
      HONE_ASSIGN(installation, iree::find_installation(options.toolchain.iree));
    }
    HONE_ASSIGN(worker::TunerFolder claimed, worker::TunerFolder::claim());
    folder.emplace(std::move(claimed));
    HONE_ASSIGN(StopSignal installed, StopSignal::install());
    stop.emplace(std::move(installed));
    options.compare.stop_fd = stop->fd();
  }
  HONE_ASSIGN(const auto provider, make_provider(options.toolchain, installation));
  trial::RunnerService runner(
      make_runner(options.compare.stop_fd, toolchain ? toolchain->temporary() : folder->parent()));
  output::StatusLine status(
      output::status_style(options.quiet, false, options.plain, options.json));
  measure::NoiseOptions noise;
  noise.rounds = options.compare.rounds;
  noise.comparison = options.compare.statistics;
  HONE_ASSIGN(const tune::MachineCheck machine,
              tune::check_machine(runner, place.address, noise, status));

  device::cpu::MachineSampler sampler(cores);
  const tune::CompareContext context{options.compare, *provider, runner, status,
                                     [&sampler] { return sampler.sample_in_detail(); }};
  Result<std::vector<tune::ComparedPair>> pairs =
      compare(options, kind, context, toolchain ? &*toolchain : nullptr);
  status.clear();
  if (!pairs) return tl::unexpected(std::move(pairs).error());
  const output::ComparisonReport report{options.compare.statistics, machine, *pairs};
  if (options.json)
    output::print_document(json_of(report));
  else
    fmt::print("{}", text_of(report, output::screen_width()));
  return std::ranges::any_of(*pairs, &tune::ComparedPair::regressed) ? 1 : 0;
}

}  // namespace

void add_compare_command(CLI::App& app, Action& run) {
  const auto [command, options] = add_command<CompareCommand>(
      app, run, "compare", "Compare two modules, specs, stores or arrays", run_compare);
  tune::CompareOptions& compare = options.compare;
  command
      .add_option(
          "A", options.operands,
          "A and B: modules (.vmfb), specs (.mlir, 'none'), stores, arrays (.npy), profiles (.csv)")
      ->expected(0, 2);
  add_toolchain_options(command, options.toolchain);
  command.add_option("--program", options.program,
                     "program of the specs or configurations (.mlir, .mlirbc, .onnx)");
  command.add_option("--dispatch", options.dispatches,
                     "compare only dispatches with NAME or pattern");
  command.add_option("--config", options.configurations,
                     "compare dist_m=64,... or 'default'; give it twice");
  add_runtime_options(command, options.runtime, "the only one");
  add_positive_option(command, "--rounds", compare.rounds, "run A and B at least N times each");
  add_positive_option(command, "--max-rounds", compare.most_rounds,
                      "run A and B at most N times each");
  add_default_option(command, "--find", compare.find,
                     "add rounds until a slowdown of SHARE is found with 95 % power")
      ->check(CLI::Range(0.0, 1.0));
  add_positive_option(command, "--seconds", compare.seconds, "length of one sample of a module");
  add_default_option(command, "--alpha", compare.statistics.alpha,
                     "significance level: allowed false-positive rate")
      ->check(CLI::Range(1e-6, 0.5));
  add_default_option(command, "--threshold", compare.statistics.threshold,
                     "ignore differences up to SHARE")
      ->check(CLI::Range(0.0, 1.0));
  command.add_option("--atol", options.atol, "absolute tolerance of arrays [by element type]")
      ->check(CLI::NonNegativeNumber);
  command.add_option("--rtol", options.rtol, "relative tolerance of arrays [by element type]")
      ->check(CLI::NonNegativeNumber);
  add_device_option(command, options.device);
  add_core_options(command, options.cores);
  add_default_option(command, "--cache", options.cache, "warm or cold operands of kernels")
      ->check(CLI::IsMember({"warm", "cold"}));
  add_default_option(command, "--seed", compare.seed, "seed of generated inputs and of the order")
      ->group(heading::kProgram);
  command.add_flag("--trust", options.trust,
                   "load stored machine code that others compiled; default: compile it again");
  add_screen_options(command, options);
  command.footer(
      "Exit code 1: B is slower than A, fails or computes something else, or an element\n"
      "of an array exceeds the tolerance. Reports are only printed side by side.");
}

}  // namespace hone::cli
