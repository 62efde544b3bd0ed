// hone compare: is B slower than A?
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/text.h"
#include "cli/command.h"
#include "cli/common_options.h"
#include "cli/compare_files.h"
#include "cli/option_layout.h"
#include "device/cpu/machine_state.h"
#include "output/comparison_report.h"
#include "output/screen.h"
#include "output/status_line.h"
#include "provider/iree/iree_provider.h"
#include "session/input_program.h"
#include "session/places.h"
#include "session/runtime_options.h"
#include "session/toolchain.h"
#include "tune/compare/compare.h"
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

constexpr std::string_view kUses =
    "hone compare a.vmfb b.vmfb; hone compare a.db b.db; hone compare a_spec.mlir b_spec.mlir "
    "--program P (or 'none' for no spec); hone compare --program P --dispatch NAME --config A "
    "--config B (or 'default'); hone compare expected.npy got.npy; hone compare old.csv new.csv";

constexpr std::string_view kSqliteHead = "SQLite format 3";

// Returns the kind of an operand, by its content or its file name.
Result<Kind> kind_of(const std::string& operand) {
  if (operand == "none") return Kind::kSpecs;
  std::ifstream file(operand, std::ios::binary);
  if (!file) return input_error("cannot read '{}': {}", operand, std::strerror(errno));
  std::string head(kSqliteHead.size(), '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  if (head == kSqliteHead) return Kind::kStores;
  const std::filesystem::path path = operand;
  if (path.extension() == ".vmfb") return Kind::kModules;
  if (path.extension() == ".mlir") return Kind::kSpecs;
  if (path.extension() == ".npy") return Kind::kArrays;
  if (path.extension() == ".csv") return Kind::kProfiles;
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
    return Kind::kConfigurations;
  }
  if (options.operands.size() != 2)
    return input_error("compare takes two operands, A and B, got {}: {}", options.operands.size(),
                       kUses);
  HONE_ASSIGN(const Kind a, kind_of(options.operands[0]));
  HONE_ASSIGN(const Kind b, kind_of(options.operands[1]));
  if (a != b)
    return input_error("'{}' and '{}' are of different kinds: {}", options.operands[0],
                       options.operands[1], kUses);
  if (a == Kind::kSpecs && options.program.empty())
    return input_error("specs are compared on a program: give --program FILE");
  return a;
}

Result<std::vector<tune::ComparedPair>> compare(const CompareCommand& options, Kind kind,
                                                const tune::CompareContext& context,
                                                Toolchain* toolchain) {
  if (kind == Kind::kStores)
    return tune::compare_stores(context, toolchain == nullptr ? nullptr : &toolchain->compiler(),
                                options.operands[0], options.operands[1], options.dispatches);
  Result<tune::ComparedPair> pair;
  if (kind == Kind::kModules)
    pair = tune::compare_modules(context, options.operands[0], options.operands[1]);
  else if (kind == Kind::kSpecs)
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
  if (kind != Kind::kSpecs) return {};
  HONE_ASSIGN(options.compare.runtime_flags,
              flags_with_parameters(options.runtime, given, input,
                                    std::filesystem::temp_directory_path(), options.compare.seed));
  return {};
}

CommandResult run_compare(CompareCommand options) {
  HONE_ASSIGN(const Kind kind, kind_of(options));
  if (kind == Kind::kArrays)
    return compare_arrays(
        {options.operands[0], options.operands[1], options.atol, options.rtol, options.json});
  if (kind == Kind::kProfiles)
    return compare_profiles({options.operands[0], options.operands[1],
                             options.compare.statistics.threshold, options.json});
  HONE_ASSIGN(const std::vector<int> cores, choose_cores(options.cores));
  tune::StoredCode code;
  if (kind == Kind::kStores) {
    HONE_ASSIGN(code,
                tune::stored_code(options.operands[0], options.operands[1], options.dispatches));
    if (options.device.empty()) options.device = device_for_code(code.formats);
  }
  HONE_ASSIGN(options.compare.place, choose_place(options.device, options.toolchain, cores));
  HONE_TRY(complete(options));
  const device::Place& place = options.compare.place;
  HONE_ASSIGN(const std::vector<device::LockFile> held, lease({&place, 1}));
  // Modules and stores hold compiled code, so no compiler is started, unless a store's code is
  // somebody else's.
  bool compiles = kind == Kind::kSpecs || kind == Kind::kConfigurations;
  if (kind == Kind::kStores) compiles = !options.trust && !code.is_own;
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
    if (kind == Kind::kModules) {
      HONE_ASSIGN(installation, iree::find_installation(options.toolchain.iree));
    }
    HONE_ASSIGN(worker::TunerFolder claimed, worker::TunerFolder::claim());
    folder.emplace(std::move(claimed));
    HONE_ASSIGN(StopSignal installed, StopSignal::install());
    stop.emplace(std::move(installed));
    options.compare.stop_fd = stop->fd();
  }
  HONE_ASSIGN(const auto provider, make_provider(options.toolchain, installation));
  trial::RunnerService runner(toolchain ? toolchain->make_runner()
                                        : make_runner(options.compare.stop_fd, folder->parent()));
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
    fmt::print("{}\n", json_of(report).dump(2));
  else
    fmt::print("{}", text_of(report, output::screen_width()));
  const bool regressed =
      std::any_of(pairs->begin(), pairs->end(), [](const auto& pair) { return pair.regressed(); });
  return regressed ? 1 : 0;
}

}  // namespace

void add_compare_command(CLI::App& app, Run& run) {
  auto options = std::make_shared<CompareCommand>();
  tune::CompareOptions& compare = options->compare;
  CLI::App* command = app.add_subcommand("compare", "Compare two modules, specs, stores or arrays");
  command
      ->add_option(
          "A", options->operands,
          "A and B: modules (.vmfb), specs (.mlir, 'none'), stores, arrays (.npy), profiles (.csv)")
      ->expected(0, 2);
  add_toolchain_options(*command, options->toolchain);
  command->add_option("--program", options->program,
                      "program of the specs or configurations (.mlir, .mlirbc, .onnx)");
  command->add_option("--dispatch", options->dispatches,
                      "compare only dispatches with NAME or pattern");
  command->add_option("--config", options->configurations,
                      "compare dist_m=64,... or 'default'; give it twice");
  add_runtime_options(*command, options->runtime, "the only one");
  command->add_option("--rounds", compare.rounds, "run A and B at least N times each")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command->add_option("--max-rounds", compare.most_rounds, "run A and B at most N times each")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--find", compare.find,
                   "add rounds until a slowdown of SHARE is found with 95 % power")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1.0));
  command->add_option("--seconds", compare.seconds, "length of one sample of a module")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--alpha", compare.statistics.alpha,
                   "significance level: allowed false-positive rate")
      ->capture_default_str()
      ->check(CLI::Range(1e-6, 0.5));
  command->add_option("--threshold", compare.statistics.threshold, "ignore differences up to SHARE")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1.0));
  command->add_option("--atol", options->atol, "absolute tolerance of arrays [by element type]")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--rtol", options->rtol, "relative tolerance of arrays [by element type]")
      ->check(CLI::NonNegativeNumber);
  add_device_option(*command, options->device);
  add_core_options(*command, options->cores);
  command->add_option("--cache", options->cache, "warm or cold operands of kernels")
      ->check(CLI::IsMember({"warm", "cold"}))
      ->capture_default_str();
  command->add_option("--seed", compare.seed, "seed of generated inputs and of the order")
      ->group(heading::kProgram)
      ->capture_default_str();
  command->add_flag("--trust", options->trust,
                    "load stored machine code that others compiled; default: compile it again");
  command->add_flag("--json", options->json, "print one JSON document");
  command->add_flag("--quiet", options->quiet, "print no progress");
  command->add_flag("--plain", options->plain,
                    "print progress as plain lines, as without a terminal");
  command->footer(
      "Exit code 1: B is slower than A, fails or computes something else, or an element\n"
      "of an array exceeds the tolerance. Reports are only printed side by side.");
  command->callback([&run, options] {
    run = [options]() -> CommandResult {
      HONE_TRY(read_flags(options->toolchain));
      return run_compare(*options);
    };
  });
}

}  // namespace hone::cli
