// hone recheck: repeats the shortest tests of a proof that would notice a change.
#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/common_options.h"
#include "cli/recheck_output.h"
#include "device/cpu/code_features.h"
#include "session/comparison_session.h"
#include "session/out_folder.h"
#include "session/places.h"
#include "session/proof_record.h"

namespace hone::cli {
namespace {

namespace fs = std::filesystem;

// Seconds of rounds, so that a recheck takes 30 s on cores and 20 s on a GPU at most.
constexpr double kSecondsOnCores = 15, kSecondsOnGpu = 10;

struct RecheckOptions : ComparisonSessionOptions {
  std::string folder;
  std::string program;  // empty: the recorded one
  std::optional<double> seconds;
  bool compiles = false;
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

Status run_modules(RecheckOptions& options, Recheck& recheck) {
  const ProofRecord& proof = recheck.proof;
  const fs::path folder = options.folder;
  HONE_ASSIGN(options.compare.place, place_for(options, proof));
  const device::Place& place = options.compare.place;
  HONE_ASSIGN(const auto session,
              ComparisonSession::open(options, ComparisonSession::Needs::kTools));
  const provider::ProgramRuntime& runtime = session->provider().runtime();
  output::StatusLine& status = session->status();
  provider::ProgramCall shipped;
  shipped.module = path_of(proof.shipped_module, folder);
  shipped.function = proof.function;
  shipped.device = place.address;
  shipped.stop_fd = session->toolchain().stop_fd();
  for (const ProvedFile& input : proof.inputs) shipped.inputs.push_back(path_of(input, folder));
  for (const std::string& flag : proof.runtime_flags)
    shipped.runtime_flags.push_back(moved(flag, folder));
  std::vector<problem::Array> references;
  for (std::size_t i = 0; i < proof.references.size(); ++i) {
    HONE_ASSIGN(references.emplace_back(),
                read_reference(path_of(proof.references[i], folder), proof.function.outputs[i]));
  }
  status.progress({.step = "calling the program"});
  auto outputs = tune::recheck_outputs(runtime, shipped, references, proof.tolerances);
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
  HONE_ASSIGN(recheck.speed, tune::recheck_speed(runtime, request, status));
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
  if (recheck.can_run) HONE_TRY(run_modules(options, recheck));
  // A changed spec is not the proof's: whether it applies says nothing of that.
  if (options.compiles && recheck.changed.empty()) HONE_TRY(compile_again(options, recheck));
  print_recheck(recheck, options.folder, options.json);
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
