// hone recheck: repeats the shortest tests of a proof that would notice a change.
#include <algorithm>
#include <cmath>

#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/common_options.h"
#include "cli/spec_effects.h"
#include "device/cpu/code_features.h"
#include "output/json_text.h"
#include "output/screen.h"
#include "output/status_line.h"
#include "output/table.h"
#include "session/out_folder.h"
#include "session/places.h"
#include "session/proof_record.h"
#include "session/toolchain.h"
#include "tune/compare/recheck.h"

namespace hone::cli {
namespace {

namespace fs = std::filesystem;

// Seconds of rounds, so that a recheck takes 30 s on cores and 20 s on a GPU at most.
constexpr double kSecondsOnCores = 15, kSecondsOnGpu = 10;

struct RecheckOptions {
  ToolchainOptions toolchain;
  CoreOptions cores;
  std::string folder;
  std::string program;  // empty: the recorded one
  std::string device;
  std::optional<double> seconds;
  bool compiles = false;
  bool json = false;
  bool quiet = false;
  bool plain = false;
};

// Effect of the spec and the kernels by today's compiler.
struct Applied {
  std::optional<tune::CheckedSpec> spec;
  std::vector<tune::CheckedKernel> kernels;
  std::string failure;       // why the program does not compile
  bool same_module = false;  // asked of flags alone
  bool same_compiler = false;

  bool holds() const {
    return failure.empty() && (!spec || working_entries(*spec) == spec->entries.size()) &&
           std::ranges::all_of(kernels, [](const tune::CheckedKernel& each) {
             return each.effect == tune::ReplacedEffect::kApplied;
           });
  }
};

struct Recheck {
  ProofRecord proof;
  std::string program;               // its path; empty: it is missing, and was not compared
  std::vector<std::string> changed;  // files that are not as they were
  bool can_run = true;               // the modules and what they are called with are unchanged
  std::vector<measure::Comparison> outputs;
  std::string failure;  // why the shipped program does not run
  std::optional<tune::RecheckedSpeed> speed;
  std::string no_speed;  // why nothing was timed
  std::optional<Applied> applied;

  bool is_right() const {
    return can_run && failure.empty() && std::ranges::all_of(outputs, &measure::Comparison::right);
  }
  bool holds() const {
    return changed.empty() && is_right() && (!applied || applied->holds()) &&
           (!speed || speed->state == tune::SpeedState::kStillFaster);
  }
};

// Compares the program and the folder's files with the record. `--program` may also be the model
// that the program was imported from. An input error for another program.
Status compare_files(const RecheckOptions& options, Recheck& recheck) {
  const ProofRecord& proof = recheck.proof;
  const fs::path folder = options.folder;
  const auto check = [&](const fs::path& file) -> Result<bool> {
    HONE_ASSIGN(const std::string bytes, read_file(file));
    const std::string hash = content_hash(bytes);
    if (hash == proof.program.hash) return true;
    if (proof.model && hash == proof.model->hash) return false;
    return input_error(
        "'{}' is the proof of another program: '{}' was changed or is another one; run hone tune "
        "{} --out {}",
        (folder / kProofName).string(), file.string(), file.string(), options.folder);
  };
  fs::path program = path_of(proof.program, folder);
  if (!options.program.empty()) {
    HONE_ASSIGN(const bool is_program, check(options.program));
    if (is_program) program = options.program;
  }
  std::error_code code;
  if (options.compiles || fs::exists(program, code)) {
    HONE_TRY(check(program).map([](bool) {}));
    recheck.program = program.string();
  }
  HONE_ASSIGN(recheck.changed, changed_applied(proof, folder));
  std::vector<ProvedFile> called{proof.baseline_module, proof.shipped_module};
  called.insert(called.end(), proof.inputs.begin(), proof.inputs.end());
  called.insert(called.end(), proof.references.begin(), proof.references.end());
  const std::vector<std::string> changed = changed_files(called, folder);
  recheck.can_run = changed.empty();
  recheck.changed.insert(recheck.changed.end(), changed.begin(), changed.end());
  return {};
}

// Chooses the device that the modules run on. Environment errors: it is missing, or this CPU lacks
// instructions that they were compiled for.
Result<device::Place> place_for(RecheckOptions& options, const ProofRecord& proof) {
  ToolchainOptions& toolchain = options.toolchain;
  const bool on_cores = proof.device.on_cores;
  if (options.device.empty() && !on_cores) options.device = proof.device.kind + ":0";
  HONE_ASSIGN(const std::vector<int> available, choose_cores({}));
  if (options.cores.cores.empty() && options.cores.threads == 0 &&
      proof.device.threads <= available.size())
    options.cores.threads = static_cast<int>(proof.device.threads);
  HONE_ASSIGN(device::Place place, choose_place(options.device, toolchain, options.cores));
  const bool is_host_code = on_cores && proof.target == "host";
  const std::vector<std::string> missing =
      is_host_code ? device::cpu::missing_features(proof.device.host_cpu.features, place.host_cpu)
                   : std::vector<std::string>();
  if (!missing.empty())
    return environment_error(
        "the modules were compiled for '{}', and {} lacks {}; run hone recheck where it was tuned",
        proof.device.host_cpu.cpu, place.host_cpu.cpu, fmt::join(missing, ", "));
  HONE_TRY(check_runs_programs(place));
  return place;
}

Result<problem::Array> read_reference(const fs::path& path, problem::TensorType type) {
  HONE_ASSIGN(const std::string bytes, read_file(path));
  HONE_ASSIGN(problem::Array array, problem::from_npy(bytes));
  if (problem::is_dynamic(type)) type.shape = array.type.shape;
  return problem::as_tensor(std::move(array), type);
}

// A flag's file, which may have moved with the folder.
std::string moved(const std::string& flag, const fs::path& folder) {
  const std::size_t at = flag.rfind('=');
  if (at == std::string::npos) return flag;
  const fs::path named = flag.substr(at + 1), here = folder / named.filename();
  std::error_code code;
  if (!named.is_absolute() || fs::exists(named, code) || !fs::exists(here, code)) return flag;
  return flag.substr(0, at + 1) + here.string();
}

Status run_modules(const RecheckOptions& options, const device::Place& place, int stop_fd,
                   Recheck& recheck) {
  const ProofRecord& proof = recheck.proof;
  const fs::path folder = options.folder;
  HONE_ASSIGN(const iree::Installation installation,
              iree::find_installation(options.toolchain.iree));
  HONE_ASSIGN(const auto provider, make_provider(options.toolchain, installation));
  provider::ProgramCall shipped;
  shipped.module = path_of(proof.shipped_module, folder);
  shipped.function = proof.function;
  shipped.device = place.address;
  shipped.stop_fd = stop_fd;
  for (const ProvedFile& input : proof.inputs) shipped.inputs.push_back(path_of(input, folder));
  for (const std::string& flag : proof.runtime_flags)
    shipped.runtime_flags.push_back(moved(flag, folder));
  std::vector<problem::Array> references;
  for (std::size_t i = 0; i < proof.references.size(); ++i) {
    HONE_ASSIGN(references.emplace_back(),
                read_reference(path_of(proof.references[i], folder), proof.function.outputs[i]));
  }
  output::StatusLine status(
      output::status_style(options.quiet, false, options.plain, options.json));
  status.progress({.step = "calling the program"});
  auto outputs = tune::recheck_outputs(provider->runtime(), shipped, references, proof.tolerances);
  HONE_TRY(all_but_failure(outputs));
  if (!outputs) {
    recheck.failure = outputs.error().message;
    return {};
  }
  recheck.outputs = std::move(*outputs);
  if (!proof.speed) {
    recheck.no_speed = "the proof claims no speed: the default is wrong";
    return {};
  }
  if (!is_same_kind(proof.device, place)) {
    recheck.no_speed =
        fmt::format("not comparable: this is {} with {} threads, not {} with {}", place.facts.name,
                    place.address.cores.size(), proof.device.name, proof.device.threads);
    return {};
  }
  provider::ProgramCall baseline = shipped;
  baseline.module = path_of(proof.baseline_module, folder);
  tune::SpeedRequest request{.baseline = std::move(baseline), .shipped = std::move(shipped)};
  request.proved_low = proof.speed->low;
  request.seconds = options.seconds.value_or(place.address.index ? kSecondsOnGpu : kSecondsOnCores);
  request.seed = proof.seed;
  HONE_ASSIGN(recheck.speed, tune::recheck_speed(provider->runtime(), request, status));
  status.clear();
  return {};
}

// Asks today's compiler what it makes of the spec, of the kernels, or of the flags alone.
Status compile_again(RecheckOptions& options, Recheck& recheck) {
  const ProofRecord& proof = recheck.proof;
  const fs::path folder = fs::absolute(options.folder);
  HONE_ASSIGN(const OutFolder out, read_out_folder(folder));
  ToolchainOptions toolchain = options.toolchain;
  std::vector<std::string> flags = out.flags;
  for (std::string& flag : transform_flags(out, folder)) flags.push_back(std::move(flag));
  // Flags of the command line come last: the compiler takes the last of two.
  toolchain.flags.insert(toolchain.flags.begin(), flags.begin(), flags.end());
  HONE_ASSIGN(const Toolchain started, Toolchain::start(toolchain));
  HONE_ASSIGN(const auto provider, make_provider(toolchain, started.installation()));
  HONE_ASSIGN(const std::string bytes, read_file(recheck.program));
  HONE_ASSIGN(const std::string library, read_file(started.installation().compiler_library));
  Applied& applied = recheck.applied.emplace();
  applied.same_compiler = content_hash(library) == proof.compiler_hash;
  if (!out.spec.empty()) {
    HONE_ASSIGN(applied.spec, tune::check_spec(started.compiler(), provider->specs(),
                                               {.program_path = recheck.program,
                                                .program_bytes = bytes,
                                                .spec_path = out.spec_path,
                                                .spec_bytes = out.spec,
                                                .flags = compile_flags(toolchain)}));
  }
  if (!out.kernels.empty()) {
    HONE_ASSIGN(applied.kernels, tune::check_replaced(started.compiler(), *provider,
                                                      {.program_path = recheck.program,
                                                       .program_bytes = bytes,
                                                       .folder = folder / kKernelsName,
                                                       .flags = compile_flags(toolchain)}));
  }
  if (applied.spec || !applied.kernels.empty()) return {};
  HONE_ASSIGN(
      const trial::CompiledModule module,
      started.compiler().compile_program({recheck.program, bytes, compile_flags(toolchain)}));
  if (module)
    applied.same_module = content_hash(*module) == proof.shipped_module.hash;
  else
    applied.failure = module.error().message;
  return {};
}

std::string applied_text(const Recheck& recheck) {
  if (!recheck.changed.empty())
    return fmt::format("no: changed since the proof: {}", fmt::join(recheck.changed, ", "));
  std::string text = fmt::format("{} files and the modules are those of the proof",
                                 recheck.proof.applied.size() + 1);
  if (!recheck.applied) return text + " (--compile asks the compiler)";
  const Applied& applied = *recheck.applied;
  if (!applied.failure.empty())
    return "no: the program does not compile: " + output::in_one_line(applied.failure);
  text = applied.same_compiler ? "the compiler of the proof" : "another compiler than the proof's";
  if (applied.spec)
    text += fmt::format(": {} of {} entries work", working_entries(*applied.spec),
                        applied.spec->entries.size());
  if (!applied.kernels.empty())
    text += fmt::format(": {} of {} kernels are applied",
                        std::ranges::count(applied.kernels, tune::ReplacedEffect::kApplied,
                                           &tune::CheckedKernel::effect),
                        applied.kernels.size());
  if (!applied.spec && applied.kernels.empty())
    text += applied.same_module ? " makes the same module" : " makes another module";
  return (applied.holds() ? "" : "no: ") + text;
}

std::string correct_text(const Recheck& recheck) {
  if (!recheck.can_run) return "not checked: files of the proof were changed";
  if (!recheck.failure.empty())
    return "no: it does not run: " + output::in_one_line(recheck.failure);
  for (std::size_t i = 0; i < recheck.outputs.size(); ++i)
    if (const measure::Comparison& output = recheck.outputs[i]; !output.right)
      return fmt::format("no: result {}: {}", i, measure::describe(output));
  double worst = 0;
  for (const measure::Comparison& output : recheck.outputs)
    worst = std::max(worst, output.worst_error);
  return fmt::format("{} result{}, off by at most {:.3g}", recheck.outputs.size(),
                     recheck.outputs.size() == 1 ? "" : "s", worst);
}

std::string faster_text(const Recheck& recheck) {
  const std::optional<ProvedSpeed>& proved = recheck.proof.speed;
  if (!recheck.speed) return recheck.no_speed.empty() ? "not measured" : recheck.no_speed;
  const measure::PairedComparison& now = recheck.speed->comparison;
  std::string text = fmt::format("{:.2f}x", 1 / now.ratio);
  if (!now.too_few)
    text += fmt::format(" [{:.2f}, {:.2f}]", 1 / now.interval.high, 1 / now.interval.low);
  text += fmt::format(" in {} rounds; the proof says {:.2f}x [{:.2f}, {:.2f}]", now.rounds,
                      proved->speedup, proved->low, proved->high);
  if (recheck.speed->state == tune::SpeedState::kUndecided)
    return fmt::format("undecided: {}; more time: --seconds", text);
  return (recheck.speed->state == tune::SpeedState::kStillFaster ? "" : "no: ") + text;
}

nlohmann::json json_of(const Recheck& recheck, const RecheckOptions& options) {
  const auto number = [](double value) {
    return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json();
  };
  nlohmann::json document{
      {"folder", options.folder},
      {"holds", recheck.holds()},
      {"program", output::text_or_null(recheck.program)},
      {"changed", recheck.changed},
      {"correct", recheck.is_right()},
      {"outputs", recheck.outputs},
      {"failure", recheck.failure},
      {"proved", recheck.proof.speed ? nlohmann::json(*recheck.proof.speed) : nlohmann::json()},
      {"speed", nlohmann::json()},
      {"not_measured", output::text_or_null(recheck.no_speed)},
      {"applied", nlohmann::json()}};
  if (recheck.speed) {
    const measure::PairedComparison& now = recheck.speed->comparison;
    document["speed"] = {{"state", tune::name_of(recheck.speed->state)},
                         {"rounds", now.rounds},
                         {"speedup", number(1 / now.ratio)},
                         {"low", now.too_few ? nullptr : number(1 / now.interval.high)},
                         {"high", now.too_few ? nullptr : number(1 / now.interval.low)}};
  }
  if (!recheck.applied) return document;
  const Applied& applied = *recheck.applied;
  nlohmann::json& row = document["applied"] = {{"holds", applied.holds()},
                                               {"same_compiler", applied.same_compiler},
                                               {"same_module", applied.same_module},
                                               {"failure", applied.failure}};
  if (applied.spec) row.update(effects_json(*applied.spec));
  row["kernels"] = nlohmann::json::array();
  for (const tune::CheckedKernel& each : applied.kernels)
    row["kernels"].push_back({{"file", each.file.filename().string()},
                              {"effect", tune::name_of(each.effect)},
                              {"note", each.note}});
  return document;
}

void print_recheck(const Recheck& recheck, const RecheckOptions& options) {
  if (options.json) {
    output::print_document(json_of(recheck, options));
    return;
  }
  std::string text = fmt::format("{}: the proof {}\n", options.folder,
                                 recheck.holds() ? "holds" : "does not hold");
  text += fmt::format("  applied  {}\n", applied_text(recheck));
  text += fmt::format("  correct  {}\n", correct_text(recheck));
  text += fmt::format("  faster   {}\n", faster_text(recheck));
  if (recheck.program.empty())
    text += fmt::format("  note     '{}' is missing: --program compares another copy\n",
                        recheck.proof.program.path);
  fmt::print("{}", output::wrapped(text, output::screen_width(), "           "));
}

CommandResult recheck_folder(RecheckOptions& options) {
  HONE_TRY(read_flags(options.toolchain));
  if (!options.compiles && !options.toolchain.flags.empty())
    return input_error("flags are for the compiler, and nothing is compiled; add --compile");
  Recheck recheck;
  HONE_ASSIGN(recheck.proof, read_proof(options.folder));
  const ProofRecord& proof = recheck.proof;
  if (options.toolchain.target != "host" && options.toolchain.target != proof.target)
    return input_error("'{}' is a proof for {}, and --target says {}", options.folder, proof.target,
                       options.toolchain.target);
  options.toolchain.target = proof.target;
  HONE_TRY(compare_files(options, recheck));
  if (recheck.can_run) {
    HONE_ASSIGN(const device::Place place, place_for(options, proof));
    HONE_ASSIGN(const std::vector<device::LockFile> held, lease_here({&place, 1}));
    HONE_ASSIGN(const StopSignal stop, StopSignal::install());
    HONE_TRY(run_modules(options, place, stop.fd(), recheck));
  }
  // A changed spec is not the proof's: whether it applies says nothing of that.
  if (options.compiles && recheck.changed.empty()) HONE_TRY(compile_again(options, recheck));
  print_recheck(recheck, options);
  return recheck.holds() ? 0 : 1;
}

}  // namespace

void add_recheck_command(CLI::App& app, Action& run) {
  const auto [command, options] = add_command<RecheckOptions>(
      app, run, "recheck", "Repeat the proof of a result: applied, correct, still faster",
      recheck_folder);
  command.add_option("FOLDER", options.folder, "folder of hone tune --out, with its proof.json")
      ->required();
  command.add_option("--program", options.program, "program of the proof [as recorded]");
  command.add_flag("--compile", options.compiles,
                   "compile too: do spec, kernels and flags still apply?");
  command
      .add_option("--seconds", options.seconds,
                  "begin rounds of the comparison for N seconds [15, on a GPU 10]")
      ->check(CLI::PositiveNumber);
  add_toolchain_options(command, options.toolchain);
  add_device_option(command, options.device);
  add_core_options(command, options.cores);
  add_screen_options(command, options);
  command.footer(
      "Exit code 1: a file was changed, an output is wrong, or the result is not shown\n"
      "to be faster. Exit code 2: no proof, or the proof of another program. On another\n"
      "kind of device, speed is not compared.");
}

}  // namespace hone::cli
