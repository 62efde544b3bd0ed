#include "session/program_session.h"

#include <nlohmann/json.hpp>

#include "device/cpu/placement.h"
#include "device/cpu/target.h"
#include "provider/iree/compiler/flag_choices.h"
#include "provider/iree/iree_provider.h"
#include "session/input_program.h"
#include "session/places.h"
#include "session/program_parameters.h"
#include "session/replacing_kernels.h"
#include "session/runtime_options.h"
#include "session/toolchain.h"

namespace hone::session {
namespace {

tune::FlagSet set_of(const provider::FlagChoice& choice) {
  return {.name = choice.name, .flags = choice.flags};
}

Status complete(SessionOptions& options) {
  tune::Options& tuning = options.tuning;
  HONE_TRY(take_effort(options));
  tuning.environment = options.toolchain.environment;
  tuning.flags = compile_flags(options.toolchain);
  tuning.reference_flags = reference_flags(options.toolchain);
  if (!gpu_of(options.toolchain)) {
    for (const provider::FlagChoice& choice : iree::known_choices(tuning.flags))
      tuning.flag_sets.push_back(set_of(choice));
    if (const auto choice = iree::reordered_sums(tuning.flags)) tuning.sums = set_of(*choice);
  }
  take_reuse(options);
  tuning.prove = !options.no_program;
  // Named dispatches and their configurations belong to the given flags, so no other flags are
  // searched.
  tuning.search_flags = !options.no_flags && tuning.dispatches.empty() &&
                        tuning.configurations.empty() && options.toolchain.audited_rule.empty();
  tuning.function = options.runtime.function;
  HONE_ASSIGN(tuning.inputs, given_arguments(options.runtime));
  HONE_ASSIGN(tuning.runtime_flags, runtime_flags(options.runtime));
  if (!tuning.traits().compiling_disturbs) {
    leave_cores_to_runners(options);
    tuning.compile_ahead = 2 * static_cast<std::size_t>(options.toolchain.jobs);
  }
  tuning.compile_jobs = static_cast<std::size_t>(jobs_of(options.toolchain));
  return {};
}

// Reads the program and sets what it needs to run. Returns the notes for the user.
Result<std::vector<std::string>> use_input(SessionOptions& options, const Toolchain& toolchain) {
  const std::string given = options.tuning.input;
  if (given.empty()) return std::vector<std::string>();  // of programs that the command finds
  HONE_ASSIGN(InputProgram input, read_program(given, toolchain, options.tuning.out));
  HONE_TRY(make_weights_opaque(input, options.tuning.out));
  options.tuning.input = input.path;
  if (input.path != given) options.model = given;
  if (!options.tuning.prove) return std::move(input.notes);
  // Random parameters go to the results' folder: its run.sh reads them too.
  std::error_code code;
  std::filesystem::create_directories(options.tuning.out, code);
  HONE_ASSIGN(
      const std::vector<std::string> flags,
      parameter_flags(options.runtime, given, input, options.tuning.out, options.tuning.seed));
  std::vector<std::string>& all = options.tuning.runtime_flags;
  all.insert(all.end(), flags.begin(), flags.end());
  return std::move(input.notes);
}

}  // namespace

store::Build build_row(const Toolchain& toolchain, const tune::Options& options,
                       const std::optional<problem::GpuTarget>& gpu,
                       const problem::CpuTarget& target) {
  store::Build row;
  row.compiler = "IREE " + toolchain.revision();
  row.flags = nlohmann::json(options.flags).dump();
  nlohmann::json compiled_for =
      gpu ? nlohmann::json{{"gpu", gpu->arch}, {"compiled_as", gpu->compiled_as}}
          : nlohmann::json{{"cpu", target.cpu}, {"features", target.features}};
  if (!options.environment.empty()) compiled_for["environment"] = options.environment;
  row.target = compiled_for.dump();
  return row;
}

Error ProgramSession::stopped(const Error& error) const {
  if (error.kind != ErrorKind::kInterrupted) return error;
  return {
      ErrorKind::kInterrupted,
      fmt::format("stopped; everything finished is in '{}', and the same command continues from "
                  "there",
                  options.store)};
}

Result<int> with_program_session(SessionOptions options,
                                 const std::function<Result<int>(ProgramSession&)>& action) {
  HONE_ASSIGN(const problem::CpuTarget target, device::cpu::detect_target());
  HONE_ASSIGN(const std::vector<int> cores, choose_cores(options.cores));
  HONE_ASSIGN(options.tuning.places, choose_places(options.device, options.toolchain, cores));
  HONE_TRY(complete(options));
  std::vector<std::string> found;  // to be said
  HONE_ASSIGN(const ReplacingTools tools, find_replacing(options, found));
  HONE_TRY(make_out(options));
  HONE_ASSIGN(store::Store store, store::Store::open(options.store, store::Mode::kReadWrite));
  const store::Device device = device_row(options.tuning);
  HONE_ASSIGN(const std::vector<device::LockFile> held, lease(options.tuning.places));
  // Stay on cores only if they were named: unnamed ones may be another tuner's, which measures
  // while this one compiles.
  if (!options.cores.cores.empty()) HONE_TRY(device::cpu::stay_on(options.cores.cores));
  HONE_ASSIGN(Toolchain toolchain, Toolchain::start(options.toolchain));
  HONE_ASSIGN(const std::vector<std::string> notes, use_input(options, toolchain));
  HONE_ASSIGN(const auto provider, make_provider(options.toolchain, toolchain.installation(),
                                                 static_cast<int>(cores.size())));
  HONE_ASSIGN(const std::vector<Replacing> replacing,
              start_replacing(tools, options.toolchain, toolchain));
  const std::string note = target_note(options.toolchain);
  trial::RunnerService runner(toolchain.make_runner(), options.kernel_seconds);
  std::vector<trial::RunnerService> more_runners;
  for (std::size_t i = 1; i < options.tuning.places.size(); ++i)
    more_runners.emplace_back(toolchain.make_runner(), options.kernel_seconds);
  output::StatusLine status(status_style(options));
  HONE_ASSIGN(trial::LeaseKeeper leases, trial::LeaseKeeper::start(store, toolchain.stop_fd()));
  if (!note.empty()) status.warn(note);
  for (const std::string& each : notes) status.warn(each);
  for (const std::string& each : found) status.note(each);
  tune::Context context{options.tuning, *provider, toolchain.compiler(), runner, store, status};
  for (trial::RunnerService& each : more_runners) context.more_runners.push_back(&each);
  context.leases = &leases;
  context.programs = provider.get();
  for (const Replacing& each : replacing) context.replacing.push_back(each.provider.get());
  context.stop_fd = toolchain.stop_fd();
  HONE_ASSIGN(context.baseline.build, store.intern(build_row(toolchain, options.tuning,
                                                             gpu_of(options.toolchain), target)));
  HONE_ASSIGN(context.device, store.intern(device));
  ProgramSession session{options, store, context, status};
  return action(session);
}

}  // namespace hone::session
