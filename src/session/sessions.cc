#include "session/sessions.h"

#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "device/cpu/code_features.h"
#include "device/cpu/kind.h"
#include "device/cpu/target.h"
#include "plan/policy.h"
#include "provider/iree/compiler/flag_choices.h"
#include "provider/iree/iree_provider.h"
#include "search/strategy.h"
#include "session/input_program.h"
#include "session/remote_runtime.h"
#include "session/replacing_kernels.h"
#include "session/runtime_options.h"
#include "session/travelling_work.h"

namespace hone::session {
namespace {

tune::FlagSet set_of(const provider::FlagChoice& choice) {
  return {.name = choice.name, .flags = choice.flags};
}

// Whether this CPU runs the references that another machine has compiled.
bool can_take_references() {
  const auto host = device::cpu::detect_target();
  if (!host) return false;
  const auto needed = device::cpu::code_features(kTravellingReferenceCpu, *host);
  return needed && device::cpu::missing_features(*needed, *host).empty();
}

Status complete(SessionOptions& options) {
  tune::Options& tuning = options.tuning;
  HONE_TRY(take_effort(options));
  tuning.environment = options.toolchain.environment;
  tuning.flags = compile_flags(options.toolchain);
  tuning.reference_flags = options.compile_only || (options.measure_only && can_take_references())
                               ? travelling_reference_flags(options.toolchain)
                               : reference_flags(options.toolchain);
  if (!gpu_of(options.toolchain)) {
    for (const provider::FlagChoice& choice : iree::known_choices(tuning.flags))
      tuning.flag_sets.push_back(set_of(choice));
    if (const auto choice = iree::reordered_sums(tuning.flags)) tuning.sums = set_of(*choice);
  }
  take_reuse(options);
  tuning.compiles_only = options.compile_only;
  if (options.measure_only) take_stored(tuning);
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
    tuning.compile_ahead = static_cast<std::size_t>(options.toolchain.jobs);
    // A round costs a turn of the line.
    if (!tuning.place().address.host.empty())
      tuning.compile_ahead = std::max(tuning.compile_ahead, plan::kFewestInRound);
  }
  tuning.compile_jobs = static_cast<std::size_t>(jobs_of(options.toolchain));
  return {};
}

// Chooses the places. Returns whether they are on this machine, which a session that compiles for
// another one, or finishes the work of one, need not have.
Result<bool> choose_places_of(SessionOptions& options) {
  if (options.compile_only) {
    HONE_ASSIGN(device::Place place, absent_place(options.toolchain.target, options.cores));
    options.tuning.places = {std::move(place)};
    return false;
  }
  if (options.measured) {
    options.no_flags = true;
    options.tuning.measured_by = options.measured->run;
    return place_of_measured(options, *options.measured);
  }
  HONE_ASSIGN(options.tuning.places,
              choose_places(options.device, options.toolchain, options.cores));
  if (options.searches && !options.no_program)
    HONE_TRY(check_runs_programs(options.tuning.place()));
  return true;
}

// Sets the device that measured.
Status go_on_from_measured(const SessionOptions& options, const std::string& compiler, bool is_here,
                           SessionParts& parts) {
  if (!options.measured) return {};
  const tune::MeasuredWork& work = *options.measured;
  if (compiler != work.build.compiler)
    return input_error(
        "the store '{}' holds measurements of code by {}, and {} is here: use that compiler, or "
        "tune into another store (--store)",
        options.store, work.build.compiler, compiler);
  HONE_ASSIGN(parts.context.device, parts.context.store.intern(work.device_row()));
  parts.status.warn(fmt::format(
      "the kernels were measured on {} by run {}; {} (--device searches here instead)", work.device,
      work.run, is_here ? "nothing is searched again" : "the program is not proved there"));
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
  HONE_ASSIGN(options.tuning.runtime_flags,
              flags_with_parameters(options.runtime, given, input, options.tuning.out,
                                    options.tuning.seed));
  return std::move(input.notes);
}

// `target`: of the code.
store::BuildRow row_of_build(const Toolchain& toolchain, const tune::Options& options,
                             nlohmann::json target) {
  store::BuildRow row;
  row.compiler = toolchain.name();
  row.flags = nlohmann::json(options.flags).dump();
  if (!options.environment.empty()) target["environment"] = options.environment;
  row.target = target.dump();
  return row;
}

}  // namespace

SessionParts::SessionParts(const SessionOptions& options, provider::Provider& provider,
                           const Toolchain& toolchain, store::Store& store)
    : runner(toolchain.make_runner(options.tuning.place().address, options.tuning.environment),
             options.kernel_seconds),
      status(status_style(options)),
      context{options.tuning, provider, toolchain.compiler(), runner, store, status} {
  for (std::size_t i = 1; i < options.tuning.places.size(); ++i)
    more_runners.emplace_back(
        toolchain.make_runner(options.tuning.places[i].address, options.tuning.environment),
        options.kernel_seconds);
  for (trial::RunnerService& each : more_runners) context.more_runners.push_back(&each);
  context.stop_fd = toolchain.stop_fd();
}

Status SessionParts::begin(const store::BuildRow& build) {
  HONE_ASSIGN(trial::LeaseKeeper keeper, trial::LeaseKeeper::start(context.store, context.stop_fd));
  context.leases = &leases.emplace(std::move(keeper));
  HONE_ASSIGN(context.baseline.build, context.store.intern(build));
  if (!context.options.compiles_only) {
    HONE_ASSIGN(context.device, context.store.intern(device_row(context.options)));
  }
  return {};
}

store::BuildRow build_row(const Toolchain& toolchain, const tune::Options& options,
                          const std::optional<problem::GpuTarget>& gpu,
                          const problem::CpuTarget& target) {
  return row_of_build(toolchain, options,
                      gpu ? nlohmann::json{{"gpu", gpu->arch}, {"compiled_as", gpu->compiled_as}}
                          : nlohmann::json{{"cpu", target.cpu}, {"features", target.features}});
}

store::BuildRow build_row(const Toolchain& toolchain, const tune::Options& options,
                          const std::string& target) {
  return row_of_build(toolchain, options,
                      nlohmann::json{{problem::gpu_target(target) ? "gpu" : "cpu", target}});
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
  HONE_ASSIGN(const bool is_here, choose_places_of(options));
  HONE_ASSIGN(const problem::CpuTarget target, host_cpu(options.toolchain));
  const device::Address address = options.tuning.place().address;
  HONE_TRY(complete(options));
  std::vector<std::string> found;  // to be said
  HONE_ASSIGN(const ReplacingTools tools, find_replacing(options, found));
  HONE_TRY(make_out(options));
  HONE_ASSIGN(store::Store store, store::Store::open(options.store, store::Mode::kReadWrite));
  Leases held;
  if (is_here) {
    HONE_ASSIGN(held, lease(options.tuning.places, options.tuning.environment));
  }
  // Stay on cores only if they were named: unnamed ones may be another tuner's, which measures
  // while this one compiles.
  if (!options.cores.cores.empty() && address.host.empty() && !options.compile_only)
    HONE_TRY(device::cpu::stay_on(options.cores.cores));
  HONE_ASSIGN(Toolchain toolchain, Toolchain::start(options.toolchain));
  HONE_ASSIGN(const std::vector<std::string> notes, use_input(options, toolchain));
  iree::Runtime runtime;  // null: this machine's
  if (const auto machine = held.machines.find(address.host); machine != held.machines.end()) {
    machine->second->stop_by(toolchain.stop_fd());
    runtime = remote_runtime(machine->second);
  }
  HONE_ASSIGN(const auto provider,
              make_provider(options.toolchain, toolchain.installation(),
                            static_cast<int>(address.cores.size()), std::move(runtime)));
  HONE_ASSIGN(const std::vector<Replacing> replacing,
              start_replacing(tools, options.toolchain, toolchain));
  const std::string note = target_note(options.toolchain);
  SessionParts parts(options, *provider, toolchain, store);
  HONE_TRY(parts.begin(build_row(toolchain, options.tuning, gpu_of(options.toolchain), target)));
  HONE_TRY(go_on_from_measured(options, toolchain.name(), is_here, parts));
  if (!note.empty()) parts.status.warn(note);
  for (const std::string& each : tune::joined(notes, found)) parts.status.warn(each);
  parts.context.programs = provider.get();
  for (const Replacing& each : replacing) parts.context.replacing.push_back(each.provider.get());
  ProgramSession session{options, store, parts.context, parts.status};
  return action(session);
}

tune::DispatchList dispatch_list(const provider::ListProvider& listed) {
  std::string names;
  for (const problem::Dispatch& dispatch : listed.dispatches()) names += dispatch.name + '\n';
  return {listed.path(), content_hash(names), listed.dispatches()};
}

Status complete(SessionOptions& options, const provider::ListProvider& listed,
                const device::Facts& facts) {
  tune::Options& tuning = options.tuning;
  HONE_TRY(take_effort(options, listed.dispatches().size()));
  tuning.environment = options.toolchain.environment;
  HONE_ASSIGN(tuning.flags, listed.flags(facts));
  take_reuse(options);
  leave_cores_to_runners(options);
  // Many candidates share a compile. A strategy that does not learn submits more of them at a time,
  // to keep more compiles in flight.
  const bool learns = tuning.configurations.empty() &&
                      (tuning.strategy == "auto" || search::learns(tuning.strategy));
  tuning.compile_ahead = (learns ? 2 : 16) * static_cast<std::size_t>(options.toolchain.jobs);
  tuning.rotating_bytes = options.rotating_bytes;
  return {};
}

Result<std::unique_ptr<ListSession>> ListSession::open(
    SessionOptions options, const std::string& provider,
    std::unique_ptr<provider::ListProvider> listed) {
  if (options.measure_only || options.measured)
    return open_without_compiler(std::move(options), std::move(listed));
  if (options.device.empty() && options.toolchain.target == "host")
    options.device = listed->device();
  HONE_ASSIGN(options.tuning.places,
              choose_places(options.device, options.toolchain, options.cores));
  const device::Facts facts = options.tuning.place().facts;
  HONE_ASSIGN(std::unique_ptr<provider::Provider> kernels, listed->provider_for(facts));
  HONE_TRY(complete(options, *listed, facts));
  HONE_ASSIGN(const provider::FoundCompiler compiler, listed->find_compiler());
  HONE_TRY(make_out(options));
  HONE_ASSIGN(store::Store store, store::Store::open(options.store, store::Mode::kReadWrite));
  HONE_ASSIGN(Leases held, lease(options.tuning.places, options.tuning.environment));
  HONE_ASSIGN(Toolchain toolchain,
              Toolchain::start(options.toolchain, provider, *listed, compiler, facts));
  std::unique_ptr<ListSession> session(new ListSession(std::move(options), std::move(listed),
                                                       std::move(kernels), std::move(held),
                                                       std::move(store), std::move(toolchain)));
  HONE_TRY(session->parts_.begin(
      build_row(session->toolchain_, session->options_.tuning, facts.target)));
  return session;
}

Result<std::unique_ptr<ListSession>> ListSession::open_without_compiler(
    SessionOptions options, std::unique_ptr<provider::ListProvider> listed) {
  std::optional<tune::PreparedWork> work;
  std::optional<store::Store> store;
  if (options.measure_only) {
    HONE_ASSIGN(OpenedWork opened, open_prepared(options, session::dispatch_list(*listed).hash));
    work = std::move(opened.work);
    store = std::move(opened.store);
  } else {
    HONE_ASSIGN(store, store::Store::open(options.store, store::Mode::kReadWrite));
    options.toolchain.target = options.measured->target;
  }
  bool is_here = true;
  if (work) {
    HONE_ASSIGN(options.tuning.places,
                choose_places(options.device, options.toolchain, options.cores));
  } else {
    options.tuning.places = {options.measured->place};
    options.tuning.measured_by = options.measured->run;
    is_here = false;
  }
  // The configurations are of the target's space, which was compiled without the device.
  device::Facts facts;
  facts.target = options.toolchain.target;
  HONE_ASSIGN(std::unique_ptr<provider::Provider> kernels, listed->provider_for(facts));
  HONE_TRY(complete(options, *listed, facts));
  if (work) {
    HONE_TRY(session::measure_only(options, *work));
    HONE_TRY(tune::stored_dispatches(*store, *work, kernels->name(), options.tuning.trust,
                                     options.tuning.place().facts.target));
  }
  HONE_TRY(make_out(options));
  Leases held;
  if (is_here) {
    HONE_ASSIGN(held, lease(options.tuning.places, options.tuning.environment));
  }
  HONE_ASSIGN(Toolchain toolchain, Toolchain::without_compiler());
  const store::BuildRow build = work ? work->build.row() : options.measured->build.row();
  std::unique_ptr<ListSession> session(new ListSession(std::move(options), std::move(listed),
                                                       std::move(kernels), std::move(held),
                                                       std::move(*store), std::move(toolchain)));
  if (work) session->to_measure_ = work_to_measure(*work, session->options_);
  HONE_TRY(session->parts_.begin(build));
  if (!is_here) {
    tune::Context& context = session->parts_.context;
    HONE_ASSIGN(context.device, session->store_.intern(session->options_.measured->device_row()));
  }
  return session;
}

tune::DispatchList ListSession::dispatch_list() const {
  tune::DispatchList list = session::dispatch_list(*listed_);
  list.measured = to_measure_;
  return list;
}

ListSession::ListSession(SessionOptions options, std::unique_ptr<provider::ListProvider> listed,
                         std::unique_ptr<provider::Provider> provider, Leases held,
                         store::Store store, Toolchain toolchain)
    : options_(std::move(options)),
      listed_(std::move(listed)),
      provider_(std::move(provider)),
      held_(std::move(held)),
      store_(std::move(store)),
      toolchain_(std::move(toolchain)),
      parts_(options_, *provider_, toolchain_, store_) {}

Error ListSession::stopped(const Error& error, const std::string& results) const {
  if (error.kind != ErrorKind::kInterrupted) return error;
  return {
      ErrorKind::kInterrupted,
      fmt::format("stopped; what is finished is in '{}' and '{}', and the same command continues",
                  results, options_.store)};
}

}  // namespace hone::session
