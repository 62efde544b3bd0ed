// hone check: is a compiler slower or wrong on what was tuned or profiled before?
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/common_options.h"
#include "output/json_text.h"
#include "output/junit.h"
#include "output/screen.h"
#include "output/table.h"
#include "session/comparison_session.h"
#include "session/input_program.h"
#include "session/places.h"
#include "tune/compare/check_compiler.h"

namespace hone::cli {
namespace {

struct CheckOptions : ComparisonSessionOptions {
  std::string input;  // a program or a store
  std::string store = "hone.db";
  std::vector<std::string> dispatches;
  std::string junit;
  bool assert_tuned = false;
};

using tune::CheckedCode;
using tune::CheckOutcome;

Result<bool> is_store(const std::string& path) {
  constexpr std::string_view kHead = "SQLite format 3";
  HONE_ASSIGN(const std::string bytes, read_file(path));
  return bytes.starts_with(kHead);
}

// An alarm, or a dispatch without a result where each needs one.
bool fails(const CheckOptions& options, const tune::CheckedCompiler& checked) {
  return std::ranges::any_of(checked.codes, tune::is_alarm, &CheckedCode::outcome) ||
         (options.assert_tuned && !checked.not_known.empty());
}

std::string_view code_of(const CheckedCode& checked) {
  return checked.configuration == tune::kDefaultWord ? "default" : "tuned";
}

output::Table table_of(const tune::CheckedCompiler& checked) {
  using enum output::Align;
  output::Table table({{"dispatch", "dispatch"},
                       {"code", "code"},
                       {"old_seconds", "old", kRight},
                       {"new_seconds", "new", kRight},
                       {"ratio", "new / old [interval]", kRight},
                       {"outcome", "new is"}});
  for (const CheckedCode& each : checked.codes) {
    const tune::ComparedPair& pair = each.pair;
    output::Cell was{nullptr, "-"}, is{nullptr, "-"}, ratio{nullptr, "-"};
    if (!pair.a_seconds.empty() && pair.failure.empty()) {
      const double a = measure::median(pair.a_seconds), b = measure::median(pair.b_seconds);
      const measure::PairedComparison& result = pair.result;
      was = {a, format_duration(a)};
      is = {b, format_duration(b)};
      ratio = {result.ratio, fmt::format("{:.3f} [{:.3f}, {:.3f}]", result.ratio,
                                         result.interval.low, result.interval.high)};
    }
    table.add(
        {{pair.what, ""}, {code_of(each), ""}, was, is, ratio, {tune::name_of(each.outcome), ""}});
  }
  return table;
}

std::string text_of(const CheckOptions& options, const tune::CheckedCompiler& checked) {
  const auto count = [&](CheckOutcome outcome) {
    return std::ranges::count(checked.codes, outcome, &CheckedCode::outcome);
  };
  std::string text;
  if (!checked.codes.empty()) text += table_of(checked).to_text(output::screen_width()) + "\n";
  for (const CheckedCode& each : checked.codes)
    if (!each.reason.empty())
      text += fmt::format("{} ({}): {}\n", each.pair.what, code_of(each), each.reason);
  for (const std::string& name : checked.not_known)
    text += fmt::format("{}: no result in '{}'\n", name, options.store);
  text += fmt::format("{} are the same code, {} not slower, {} slower, {} wrong, {} fail",
                      count(CheckOutcome::kSameCode), count(CheckOutcome::kNotSlower),
                      count(CheckOutcome::kSlower), count(CheckOutcome::kWrong),
                      count(CheckOutcome::kFails));
  if (const auto others = count(CheckOutcome::kNotComparable); others > 0)
    text += fmt::format(", {} cannot be compared", others);
  return text +
         fmt::format(
             "\nfalse alarms: in at most {:g} % of runs; slowdowns up to {:g} % count as none\n",
             100 * options.compare.statistics.alpha, 100 * options.compare.statistics.threshold);
}

nlohmann::json json_of(const CheckOptions& options, const tune::CheckedCompiler& checked) {
  nlohmann::json document{{"store", options.store},
                          {"alpha", options.compare.statistics.alpha},
                          {"threshold", options.compare.statistics.threshold},
                          {"failed", fails(options, checked)},
                          {"not_known", checked.not_known},
                          {"codes", table_of(checked).to_json()}};
  for (std::size_t i = 0; i < checked.codes.size(); ++i) {
    const CheckedCode& each = checked.codes[i];
    document["codes"][i].update({{"configuration", each.configuration},
                                 {"reason", each.reason},
                                 {"rounds", each.pair.a_seconds.size()},
                                 {"low", each.pair.result.interval.low},
                                 {"high", each.pair.result.interval.high}});
  }
  return document;
}

std::vector<output::TestCase> cases_of(const CheckOptions& options,
                                       const tune::CheckedCompiler& checked) {
  using enum output::TestCase::State;
  std::vector<output::TestCase> cases;
  for (const CheckedCode& each : checked.codes) {
    output::TestCase& one =
        cases.emplace_back(output::TestCase{each.pair.what, std::string(code_of(each))});
    if (tune::is_alarm(each.outcome)) {
      one.state = kFailed;
      one.kind = tune::name_of(each.outcome);
      one.text =
          each.outcome == CheckOutcome::kSlower
              ? fmt::format("takes {:.3f} [{:.3f}, {:.3f}] times as long", each.pair.result.ratio,
                            each.pair.result.interval.low, each.pair.result.interval.high)
              : each.reason;
    } else if (each.outcome == CheckOutcome::kNotComparable) {
      one.state = kSkipped;
      one.text = each.reason;
    }
  }
  for (const std::string& name : checked.not_known)
    cases.push_back({name, "has a result", options.assert_tuned ? kFailed : kSkipped, "not tuned",
                     fmt::format("no result in '{}'", options.store)});
  return cases;
}

CommandResult run_check(CheckOptions& options) {
  HONE_TRY(read_flags(options.toolchain));
  HONE_ASSIGN(const bool of_store, is_store(options.input));
  if (of_store) options.store = options.input;
  if (of_store && options.assert_tuned)
    return input_error("--assert-tuned needs a program: hone check PROGRAM --store {}",
                       options.input);
  if (options.device.empty()) {
    HONE_ASSIGN(const std::set<std::string> formats,
                tune::stored_formats(options.store,
                                     of_store ? options.dispatches : std::vector<std::string>()));
    options.device = device_for_code(formats);
  }
  HONE_ASSIGN(options.compare.place,
              choose_place(options.device, options.toolchain, options.cores));
  HONE_ASSIGN(const auto session,
              ComparisonSession::open(options, ComparisonSession::Needs::kCompiler));
  std::optional<problem::Program> program;
  if (!of_store) {
    HONE_ASSIGN(const InputProgram input, read_program(options.input, session->toolchain()));
    print_notes_of(input);
    HONE_ASSIGN(program,
                load_for_target(session->compiler(), options.toolchain, input.path, input.bytes));
  }
  const auto checked =
      tune::check_compiler(session->context(), session->compiler(),
                           {options.store, program ? &*program : nullptr, options.dispatches});
  session->status().clear();
  if (!checked) return tl::unexpected(checked.error());
  if (!options.junit.empty())
    HONE_TRY(write_file_atomically(options.junit,
                                   output::junit_xml(fmt::format("hone check {}", options.input),
                                                     cases_of(options, *checked))));
  if (options.json)
    output::print_document(json_of(options, *checked));
  else
    fmt::print("{}", output::wrapped(text_of(options, *checked), output::screen_width(), "  "));
  return fails(options, *checked) ? 1 : 0;
}

}  // namespace

void add_check_command(CLI::App& app, Action& run) {
  const auto [command, options] = add_command<CheckOptions>(
      app, run, "check", "Check whether a compiler is slower or wrong on what was tuned before",
      run_check);
  command
      .add_option("PROGRAM|STORE", options.input,
                  "program (.mlir, .mlirbc, .onnx), or a store: all of it")
      ->required();
  add_comparison_options(command, options, "old and new",
                         "share of runs that may raise a false alarm");
  add_default_option(command, "--store", options.store, "store of a program's results");
  command.add_option("--dispatch", options.dispatches, "only dispatches with NAME or pattern");
  command.add_flag("--assert-tuned", options.assert_tuned,
                   "fail if the store has no result of a dispatch of the program");
  command.add_option("--junit", options.junit, "write JUnit's XML to FILE");
  add_trust_option(command, options.trust);
  command.footer(
      "Exit code 1: a dispatch is slower, wrong or fails, or has no result where\n"
      "--assert-tuned asks for one. --iree names the compiler that is checked.");
}

}  // namespace hone::cli
