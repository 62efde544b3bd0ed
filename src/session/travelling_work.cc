#include "session/travelling_work.h"

#include <fmt/ranges.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "device/cpu/code_features.h"
#include "device/cpu/kind.h"
#include "device/cpu/target.h"
#include "provider/iree/iree_provider.h"
#include "tune/services/load_program.h"

namespace hone::session {
namespace {

// References of code for a GPU run on CPUs with AVX2, FMA and F16C. Those of a CPU's code are for
// any x86-64, as reference_flags() says, and need f16c where this machine has it.
std::vector<std::string> features_of_references(const SessionOptions& options,
                                                const problem::CpuTarget& host) {
  if (gpu_of(options.toolchain))
    return device::cpu::code_features(kTravellingReferenceCpu, host)
        .value_or(std::vector<std::string>());
  const std::vector<std::string> f16c{"f16c"};
  return device::cpu::missing_features(f16c, host).empty() ? f16c : std::vector<std::string>();
}

// "hone tune model.mlir --compile-only --store s.db".
std::string command(const SessionOptions& options, std::string_view phase) {
  return fmt::format("hone tune {} {}--store {}", shell_word(options.tuning.input), phase,
                     shell_word(options.store));
}

Status check_cpu(const tune::PreparedWork& work, const problem::CpuTarget& here) {
  const auto check = [&](const char* what, const std::vector<std::string>& needed) -> Status {
    const std::vector<std::string> missing = device::cpu::missing_features(needed, here);
    if (missing.empty()) return {};
    return input_error(
        "{} in the store need {}, which this CPU ({}) lacks: compile with --target x86-64-v3 or "
        "another level that it has",
        what, fmt::join(missing, ", "), here.cpu);
  };
  HONE_TRY(check("the kernels", work.features));
  return check("the references", work.reference_features);
}

Result<std::unique_ptr<iree::IreeProvider>> provider_of(const tune::PreparedWork& work,
                                                        const ToolchainOptions& options) {
  if (work.cpu) return std::make_unique<iree::CpuIreeProvider>(iree::Installation(), *work.cpu);
  return make_provider(options, iree::Installation());
}

}  // namespace

Result<tune::PreparedWork> work_to_prepare(const SessionOptions& options, const std::string& input,
                                           const store::BuildRow& build,
                                           const std::optional<problem::CpuTarget>& cpu) {
  HONE_ASSIGN(const problem::CpuTarget host, device::cpu::detect_target());
  tune::PreparedWork work;
  work.input = input;
  work.target = options.toolchain.target;
  work.user_flags = options.toolchain.flags;
  work.build = tune::BuildText::of(build);
  work.reference_build = work.build;
  work.reference_build.flags = nlohmann::json(options.tuning.reference_flags).dump();
  work.cpu = cpu;
  work.reference_features = features_of_references(options, host);
  if (!cpu) return work;
  const auto features = device::cpu::code_features(work.target, host);
  if (!features)
    return input_error(
        "--compile-only for the CPU '{}': hone does not know which instructions another machine "
        "must have; name a level: --target x86-64-v3",
        work.target);
  work.features = *features;
  return work;
}

Status check_code_travels(const SessionOptions& options) {
  HONE_ASSIGN(const problem::CpuTarget cpu, device::cpu::detect_target());
  const bool is_gpu = gpu_of(options.toolchain).has_value();
  return work_to_prepare(options, {}, {}, is_gpu ? std::nullopt : std::optional(cpu))
      .map([](const tune::PreparedWork&) {});
}

Result<OpenedWork> open_prepared(SessionOptions& options, const std::string& input) {
  const std::string compiles = command(options, "--compile-only ");
  std::error_code code;
  if (!std::filesystem::exists(options.store, code))
    return input_error("there is no store '{}' to measure: '{}', where the compiler is, makes it",
                       options.store, compiles);
  HONE_ASSIGN(store::Store store, store::Store::open(options.store, store::Mode::kReadWrite));
  HONE_ASSIGN(std::optional<tune::PreparedWork> work, tune::find_prepared(store, input));
  if (!work)
    return input_error(
        "the store '{}' has no finished --compile-only of '{}': '{}', where the compiler is, "
        "compiles it",
        options.store, options.tuning.input, compiles);
  if (options.toolchain.target != "host" && options.toolchain.target != work->target)
    return input_error("--target {}: the store '{}' holds code for {}; leave --target out",
                       options.toolchain.target, options.store, work->target);
  options.toolchain.target = work->target;
  options.toolchain.flags = work->user_flags;
  return OpenedWork{std::move(store), std::move(*work)};
}

Status measure_only(SessionOptions& options, const tune::PreparedWork& work) {
  tune::Options& tuning = options.tuning;
  HONE_ASSIGN(tuning.flags, tune::flags_in(work.build.row()));
  HONE_ASSIGN(tuning.reference_flags, tune::flags_in(work.reference_build.row()));
  take_stored(tuning);
  tuning.measures_only = true;
  tuning.prove = false;
  return {};
}

void take_stored(tune::Options& options) {
  options.takes_stored = true;
  options.trust = store::Trust::kAnyone;
}

tune::MeasuredWork work_to_measure(const tune::PreparedWork& work, const SessionOptions& options) {
  const store::DeviceRow device = device_row(options.tuning);
  return {.input = work.input,
          .target = work.target,
          .user_flags = work.user_flags,
          .build = work.build,
          .device = device.name,
          .driver = device.driver,
          .protocol = device.protocol,
          .place = options.tuning.place()};
}

Result<int> with_measuring_session(
    SessionOptions options,
    const std::function<Result<int>(ProgramSession&, const tune::DispatchList&)>& action) {
  HONE_ASSIGN(const std::string bytes, read_file(options.tuning.input));
  HONE_ASSIGN(OpenedWork opened, open_prepared(options, content_hash(bytes)));
  const tune::PreparedWork& work = opened.work;
  HONE_ASSIGN(options.tuning.places,
              choose_places(options.device, options.toolchain, options.cores));
  HONE_ASSIGN(const problem::CpuTarget cpu, host_cpu(options.toolchain));
  HONE_TRY(check_cpu(work, cpu));
  HONE_TRY(take_effort(options));
  options.tuning.environment = options.toolchain.environment;
  take_reuse(options);
  HONE_TRY(measure_only(options, work));
  HONE_ASSIGN(const auto provider, provider_of(work, options.toolchain));
  HONE_ASSIGN(tune::StoredDispatches stored,
              tune::stored_dispatches(opened.store, work, provider->name(), options.tuning.trust,
                                      options.tuning.place().facts.target));
  HONE_TRY(make_out(options));
  HONE_ASSIGN(const Leases held, lease(options.tuning.places, options.tuning.environment));
  if (!options.cores.cores.empty() && options.tuning.place().address.host.empty())
    HONE_TRY(device::cpu::stay_on(options.cores.cores));
  HONE_ASSIGN(Toolchain toolchain, Toolchain::without_compiler());
  SessionParts parts(options, *provider, toolchain, opened.store);
  HONE_TRY(parts.begin(work.build.row()));
  parts.context.programs = provider.get();
  tune::DispatchList list{work.path, work.program, std::move(stored.dispatches)};
  list.references = std::move(stored.references);
  list.measured = work_to_measure(work, options);
  for (std::size_t i = 0; i < list.dispatches.size(); ++i) {
    const auto& reference = list.references[i];
    if (stored.reference_code[i])
      tune::keep_reference(parts.context, list.dispatches[i], reference ? &*reference : nullptr,
                           std::move(*stored.reference_code[i]));
  }
  ProgramSession session{options, opened.store, parts.context, parts.status};
  return action(session, list);
}

Result<std::optional<tune::MeasuredWork>> measured_work(const SessionOptions& options,
                                                        const std::string& input) {
  std::error_code code;
  if (!options.device.empty() || !std::filesystem::exists(options.store, code))
    return std::optional<tune::MeasuredWork>();
  // Whatever is wrong with the store, opening it to write says so.
  Result<store::Store> store = store::Store::open(options.store, store::Mode::kReadOnly);
  if (!store) return std::optional<tune::MeasuredWork>();
  HONE_ASSIGN(std::optional<tune::MeasuredWork> work, tune::find_measured(*store, input));
  const ToolchainOptions& asked = options.toolchain;
  const bool is_asked = work && (asked.target == "host" || asked.target == work->target) &&
                        (asked.flags.empty() || asked.flags == work->user_flags);
  if (!is_asked) work.reset();
  return work;
}

Result<bool> place_of_measured(SessionOptions& options, const tune::MeasuredWork& work) {
  ToolchainOptions toolchain = options.toolchain;
  auto here = choose_places(options.device, toolchain, options.cores);
  HONE_TRY(interruption(here));
  if (here) {
    options.tuning.places = std::move(*here);
    const store::DeviceRow row = device_row(options.tuning);
    if (row.name == work.device && row.driver == work.driver && row.protocol == work.protocol)
      return true;
  }
  options.tuning.places = {work.place};
  options.no_program = true;
  return false;
}

}  // namespace hone::session
