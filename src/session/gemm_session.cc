#include "session/gemm_session.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "search/strategy.h"

namespace hone::session {
namespace {

constexpr double kSecondsPerGemm = 20;

}  // namespace

store::Build triton_build(const triton::Installation& installation, const tune::Options& options,
                          const std::string& target) {
  store::Build row;
  row.compiler = "Triton " + installation.version;
  row.flags = nlohmann::json(options.flags).dump();
  nlohmann::json compiled_for{{"gpu", target}};
  if (!options.environment.empty()) compiled_for["environment"] = options.environment;
  row.target = compiled_for.dump();
  return row;
}

Status complete(SessionOptions& options, const triton::GemmDevice& device, std::size_t gemms) {
  tune::Options& tuning = options.tuning;
  tuning.budget_seconds = kSecondsPerGemm * static_cast<double>(gemms);
  if (!options.budget.empty()) {
    HONE_ASSIGN(tuning.budget_seconds, parse_duration(options.budget));
  }
  tuning.environment = options.toolchain.environment;
  tuning.flags = triton::worker_flags(device);
  tuning.cache = options.cache == "cold" ? measure::CacheMode::kCold : measure::CacheMode::kWarm;
  tuning.reuse = options.reuse == "any" ? store::Reuse::kAny : store::Reuse::kEqualIdentities;
  tuning.trust = options.trust ? store::Trust::kAnyone : store::Trust::kOwn;
  leave_cores_to_runners(options);
  // Many candidates share one compile: of more at a time more compiles are in flight.
  const bool learns = tuning.configurations.empty() &&
                      (tuning.strategy == "auto" || search::learns(tuning.strategy));
  tuning.compile_ahead = (learns ? 2 : 16) * static_cast<std::size_t>(options.toolchain.jobs);
  tuning.rotating_bytes = options.rotating_bytes;
  return {};
}

Result<std::unique_ptr<GemmSession>> GemmSession::open(
    SessionOptions options, const std::vector<triton::GemmEntry>& entries, const std::string& path,
    std::shared_ptr<const triton::UserKernel> kernel) {
  if (options.device.empty() && options.toolchain.target == "host") options.device = "cuda:0";
  HONE_ASSIGN(const std::vector<int> cores, choose_cores(options.cores));
  HONE_ASSIGN(options.tuning.places, choose_places(options.device, options.toolchain, cores));
  const device::Facts& facts = options.tuning.place().facts;
  if (!options.tuning.traits().own_memory)
    return input_error(
        "Triton's kernels run on GPUs: give --device cuda:0, or --compile-only and "
        "--target sm_90 or gfx942");
  HONE_ASSIGN(const triton::GemmDevice device, gemm_device_of(facts));
  for (const triton::GemmEntry& entry : entries) {
    HONE_TRY(check_fits(entry, path, facts.name, facts.memory_bytes, device));
    HONE_TRY(check_kernel(kernel.get(), entry, device));
  }
  HONE_TRY(complete(options, device, entries.size()));
  HONE_ASSIGN(triton::Installation installation, triton::find_installation(options.gemms.triton));
  HONE_TRY(make_out(options));
  HONE_ASSIGN(store::Store store, store::Store::open(options.store, store::Mode::kReadWrite));
  HONE_ASSIGN(std::vector<device::LockFile> held, lease(options.tuning.places));
  HONE_ASSIGN(TritonToolchain toolchain,
              TritonToolchain::start(std::move(installation), device, options.toolchain));
  std::unique_ptr<GemmSession> session(new GemmSession(std::move(options), device, std::move(held),
                                                       std::move(store), std::move(toolchain),
                                                       std::move(kernel)));
  HONE_TRY(session->begin());
  return session;
}

GemmSession::GemmSession(SessionOptions options, const triton::GemmDevice& device,
                         std::vector<device::LockFile> held, store::Store store,
                         TritonToolchain toolchain,
                         std::shared_ptr<const triton::UserKernel> kernel)
    : options_(std::move(options)),
      held_(std::move(held)),
      store_(std::move(store)),
      toolchain_(std::move(toolchain)),
      provider_(device, space_kind(options_.gemms), std::move(kernel)),
      runner_(toolchain_.make_runner(), options_.kernel_seconds),
      status_(output::verbosity_of(options_.quiet, options_.plain, options_.json)),
      context_{options_.tuning, provider_, toolchain_.compiler(), runner_, store_, status_} {}

Status GemmSession::begin() {
  for (std::size_t i = 1; i < options_.tuning.places.size(); ++i)
    more_runners_.emplace_back(toolchain_.make_runner(), options_.kernel_seconds);
  for (trial::RunnerService& each : more_runners_) context_.more_runners.push_back(&each);
  HONE_ASSIGN(trial::LeaseKeeper leases, trial::LeaseKeeper::start(store_, toolchain_.stop_fd()));
  leases_.emplace(std::move(leases));
  context_.leases = &*leases_;
  context_.stop_fd = toolchain_.stop_fd();
  HONE_ASSIGN(context_.baseline.build,
              store_.intern(triton_build(toolchain_.installation(), options_.tuning,
                                         options_.tuning.place().facts.target)));
  HONE_ASSIGN(context_.device, store_.intern(device_row(options_.tuning)));
  return {};
}

Error GemmSession::stopped(const std::string& results) const {
  return {
      ErrorKind::kInterrupted,
      fmt::format("stopped; what is finished is in '{}' and '{}', and the same command continues",
                  results, options_.store)};
}

}  // namespace hone::session
