#include "session/comparison_session.h"

#include "provider/iree/vector/vector_provider.h"

namespace hone::session {

Result<std::unique_ptr<ComparisonSession>> ComparisonSession::open(
    ComparisonSessionOptions& options, Needs needs, bool measures) {
  tune::CompareOptions& compare = options.compare;
  if (compare.find <= compare.statistics.threshold)
    return input_error(
        "--find {:g} must be above --threshold {:g}: smaller differences are not reported",
        compare.find, compare.statistics.threshold);
  HONE_ASSIGN(const std::vector<int> cores, choose_cores(options.cores));
  std::vector<device::LockFile> held;
  if (measures) {
    HONE_ASSIGN(held, lease_here({&compare.place, 1}));
  }
  HONE_ASSIGN(Toolchain toolchain, needs == Needs::kCompiler ? Toolchain::start(options.toolchain)
                                                             : Toolchain::without_compiler());
  iree::Installation installation = toolchain.installation();
  if (needs == Needs::kTools) {
    HONE_ASSIGN(installation, iree::find_installation(options.toolchain.iree));
  }
  HONE_ASSIGN(auto provider, make_provider(options.toolchain, installation));
  std::unique_ptr<provider::Provider> beside;
  if (needs == Needs::kCompiler && compare.place.traits.runs_on_host) {
    HONE_ASSIGN(const problem::CpuTarget cpu, host_cpu(options.toolchain));
    beside = std::make_unique<iree::VectorProvider>(cpu);
    toolchain.compiler().add_replacing(std::string(beside->name()));
  }
  compare.flags = compile_flags(options.toolchain);
  compare.own_flags = options.toolchain.flags;
  compare.reference_flags = reference_flags(options.toolchain);
  compare.trust = options.trust ? store::Trust::kAnyone : store::Trust::kOwn;
  compare.stop_fd = toolchain.stop_fd();
  return std::unique_ptr<ComparisonSession>(
      new ComparisonSession(options, std::move(held), std::move(toolchain), std::move(provider),
                            std::move(beside), cores));
}

ComparisonSession::ComparisonSession(const ComparisonSessionOptions& options,
                                     std::vector<device::LockFile> held, Toolchain toolchain,
                                     std::unique_ptr<iree::IreeProvider> provider,
                                     std::unique_ptr<provider::Provider> beside,
                                     const std::vector<int>& cores)
    : options_(options),
      held_(std::move(held)),
      toolchain_(std::move(toolchain)),
      provider_(std::move(provider)),
      beside_(std::move(beside)),
      runner_(make_runner(toolchain_.stop_fd(), toolchain_.temporary())),
      sampler_(cores) {}

output::StatusLine& ComparisonSession::status() {
  if (!status_)
    status_.emplace(output::status_style(options_.quiet, false, options_.plain, options_.json));
  return *status_;
}

tune::CompareContext ComparisonSession::context() {
  return {options_.compare,
          *provider_,
          runner_,
          status(),
          [this] { return sampler_.sample_in_detail(); },
          beside_.get()};
}

Result<tune::MachineCheck> ComparisonSession::check_machine() {
  measure::NoiseOptions noise;
  noise.rounds = options_.compare.rounds;
  noise.comparison = options_.compare.statistics;
  return tune::check_machine(runner_, options_.compare.place.address, noise, status());
}

}  // namespace hone::session
