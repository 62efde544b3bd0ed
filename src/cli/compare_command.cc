// hone compare: is B slower than A? Two files of results are compared too: arrays, and reports of
// hone profile or of the old dispatch profiler.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "base/text.h"
#include "cli/command.h"
#include "cli/common_options.h"
#include "cli/compare_files.h"
#include "cli/option_layout.h"
#include "measure/runner_requests.h"
#include "output/comparison_report.h"
#include "output/json_text.h"
#include "output/screen.h"
#include "session/comparison_session.h"
#include "session/input_program.h"
#include "session/places.h"
#include "session/runtime_options.h"
#include "tune/compare/compare.h"

namespace hone::cli {
namespace {

struct CompareCommand : ComparisonSessionOptions {
  RuntimeOptions runtime;
  std::vector<std::string> operands;  // A and B
  std::string program;
  std::vector<std::string> dispatches;
  std::vector<std::string> configurations;
  std::string cache = "warm";
  std::optional<double> atol, rtol;  // of arrays
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

Result<std::vector<tune::ComparedPair>> compare(const CompareCommand& options, Kind kind,
                                                const tune::CompareContext& context,
                                                trial::CompileService* compiler) {
  if (kind == kStores)
    return tune::compare_stores(context, compiler, options.operands[0], options.operands[1],
                                options.dispatches);
  Result<tune::ComparedPair> pair;
  if (kind == kModules)
    pair = tune::compare_modules(context, options.operands[0], options.operands[1]);
  else if (kind == kSpecs)
    pair = tune::compare_specs(context, *compiler, options.program, options.operands[0],
                               options.operands[1]);
  else
    pair =
        tune::compare_configurations(context, *compiler, options.program,
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
  compare.cache = options.cache == "cold" ? measure::CacheMode::kCold : measure::CacheMode::kWarm;
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

using Needs = ComparisonSession::Needs;

// Modules and stores hold compiled code, so no compiler is needed, unless a store's code is
// somebody else's.
Needs needs_of(const CompareCommand& options, Kind kind, const tune::StoredCode& code) {
  if (kind == kModules) return Needs::kTools;
  if (kind == kStores && (options.trust || code.is_own)) return Needs::kNothing;
  return Needs::kCompiler;
}

CommandResult run_compare(CompareCommand& options) {
  HONE_TRY(read_flags(options.toolchain));
  HONE_ASSIGN(const Kind kind, kind_of(options));
  const ComparedFiles files{options.operands, options.atol, options.rtol,
                            options.compare.statistics.threshold, options.json};
  if (kind == kArrays) return compare_arrays(files);
  if (kind == kProfiles) return compare_profiles(files);
  tune::StoredCode code;
  if (kind == kStores) {
    HONE_ASSIGN(code,
                tune::stored_code(options.operands[0], options.operands[1], options.dispatches));
    if (options.device.empty()) options.device = device_for_code(code.formats);
  }
  HONE_ASSIGN(options.compare.place,
              choose_place(options.device, options.toolchain, options.cores));
  HONE_TRY(complete(options));
  if (kind == kModules || kind == kSpecs) HONE_TRY(check_runs_programs(options.compare.place));
  const Needs needs = needs_of(options, kind, code);
  HONE_ASSIGN(const auto session, ComparisonSession::open(options, needs));
  const bool compiles = needs == Needs::kCompiler;
  if (compiles && !options.program.empty())
    HONE_TRY(use_program(options, session->toolchain(), kind));
  HONE_ASSIGN(const tune::MachineCheck machine, session->check_machine());
  Result<std::vector<tune::ComparedPair>> pairs =
      compare(options, kind, session->context(), compiles ? &session->compiler() : nullptr);
  session->status().clear();
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
  add_comparison_options(command, options, "A and B",
                         "significance level: allowed false-positive rate");
  command.add_option("--program", options.program,
                     "program of the specs or configurations (.mlir, .mlirbc, .onnx)");
  command.add_option("--dispatch", options.dispatches,
                     "compare only dispatches with NAME or pattern");
  command.add_option("--config", options.configurations,
                     "compare dist_m=64,... or 'default'; give it twice");
  add_runtime_options(command, options.runtime, "the only one");
  add_positive_option(command, "--seconds", compare.seconds, "length of one sample of a module");
  command.add_option("--atol", options.atol, "absolute tolerance of arrays [by element type]")
      ->check(CLI::NonNegativeNumber);
  command.add_option("--rtol", options.rtol, "relative tolerance of arrays [by element type]")
      ->check(CLI::NonNegativeNumber);
  add_default_option(command, "--cache", options.cache, "warm or cold operands of kernels")
      ->check(CLI::IsMember({"warm", "cold"}));
  add_default_option(command, "--seed", compare.seed, "seed of generated inputs and of the order")
      ->group(heading::kProgram);
  add_trust_option(command, options.trust);
  command.footer(
      "Exit code 1: B is slower than A, fails or computes something else, or an element\n"
      "of an array exceeds the tolerance. Reports are only printed side by side.");
}

}  // namespace hone::cli
