#include "measure/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "measure/sampling.h"
#include "measure/workload.h"

namespace hone::measure {

namespace {

constexpr int kA = 1;
constexpr int kB = 2;

Protocol protocol_for(std::size_t rounds) {
  Protocol protocol;
  protocol.max_warm_up_seconds = 0.1;
  protocol.min_samples = rounds;
  protocol.max_samples = rounds;
  protocol.max_seconds = 20;  // only reached where nearly every sample is disturbed
  protocol.early_stop_factor = 0;
  return protocol;
}

}  // namespace

Result<Calibration> calibrate(device::Device& device, std::size_t rounds) {
  const std::unique_ptr<device::Kernel> kernel = device.calibration_kernel();
  if (kernel == nullptr) return failure("the device has no calibration kernel");
  HONE_ASSIGN(Buffers buffers, Buffers::create({}, {}, 1));
  Workload workload{.buffers = std::move(buffers)};
  MeasureRequest request;
  request.handles = {kA, kB};
  request.protocol = protocol_for(rounds);
  device.detailed_machine_state();  // shares are of the time from here on
  HONE_ASSIGN(MeasureResult result,
              sample_interleaved(
                  device, {{kA, kernel.get(), &workload}, {kB, kernel.get(), &workload}}, request));
  Calibration calibration;
  calibration.before = std::move(result.before);
  calibration.after = std::move(result.after);
  // The loop has looked at the state already: of a second look only the processes are of use.
  calibration.after.processes = device.detailed_machine_state().processes;
  calibration.a_seconds = std::move(result.handles[0].seconds);
  calibration.b_seconds = std::move(result.handles[1].seconds);
  calibration.disturbed = result.handles[0].disturbed + result.handles[1].disturbed;
  return calibration;
}

namespace {

// Load of other processes below these shares does not show in a median.
constexpr double kWorthSaying = 0.02;
// Load above these shares makes a short calibration unreliable: it comes and goes.
constexpr double kMostBackground = 0.10;
constexpr double kMostStolen = 0.05;
constexpr std::size_t kMostProcesses = 3;

double percent(double share) {
  return 100 * share;
}

class Judgement {
 public:
  Judgement(const Calibration& calibration, Noise& noise)
      : before_(calibration.before), state_(calibration.after), noise_(noise) {}

  void look_at(const device::CoreState& core) {
    if (!core.governor.empty() && core.governor != "performance")
      find(fmt::format("core {}: governor '{}'", core.core, core.governor),
           "keep the clock up: cpupower frequency-set -g performance (as root)");
    if (core.stolen.value_or(0) >= kWorthSaying)
      find(fmt::format("core {}: {:.0f} % of its time went to other virtual machines", core.core,
                       percent(*core.stolen)),
           "use a machine, or a kind of virtual machine, whose cores are not shared");
    if (const long events = throttles_of(core); events > 0)
      find(
          fmt::format("core {}: throttled {} times by its temperature just now", core.core, events),
          "look at the cooling, or run fewer threads");
    stolen_ = std::max(stolen_, core.stolen.value_or(0));
  }

  void look_at_processes() {
    for (std::size_t i = 0; i < std::min(kMostProcesses, state_.processes.size()); ++i) {
      const device::BusyProcess& process = state_.processes[i];
      find(fmt::format("{} (process {}) takes {:.0f} % of a core, last seen on core {}",
                       process.name, process.pid, percent(process.share), process.core),
           "end the processes named, or give hone cores that they do not use (--cores)");
    }
    if (state_.processes.empty() && state_.background.value_or(0) >= kWorthSaying)
      find(fmt::format("others take {:.0f} % of the cores", percent(*state_.background)),
           "wait until they are done, or give hone other cores (--cores)");
  }

  bool load_may_hide() const {
    return state_.background.value_or(0) > kMostBackground || stolen_ > kMostStolen;
  }

 private:
  long throttles_of(const device::CoreState& core) const {
    for (const device::CoreState& before : before_.cores)
      if (before.core == core.core && before.throttles && core.throttles)
        return *core.throttles - *before.throttles;
    return 0;
  }

  void find(std::string finding, std::string advice) {
    noise_.findings.push_back(std::move(finding));
    if (std::ranges::count(noise_.advice, advice) == 0) noise_.advice.push_back(std::move(advice));
  }

  const device::MachineState& before_;
  const device::MachineState& state_;
  Noise& noise_;
  double stolen_ = 0;
};

}  // namespace

Noise judge_noise(const Calibration& calibration, const NoiseOptions& options) {
  Noise noise;
  std::vector<double> samples = calibration.a_seconds;
  samples.insert(samples.end(), calibration.b_seconds.begin(), calibration.b_seconds.end());
  const Summary summary = summarise(samples);
  const auto count = static_cast<double>(samples.size());
  if (summary.median > 0) noise.spread = (summary.q3 - summary.q1) / summary.median;
  if (!samples.empty()) {
    noise.disturbed = calibration.disturbed / (count + calibration.disturbed);
    noise.outliers = static_cast<double>(outliers(samples).size()) / count;
  }

  // Every round counts for itself: the calibration draws its order too (comparison.h).
  ComparisonOptions comparison = options.comparison;
  comparison.block = 1;
  const Result<PairedComparison> itself =
      compare_paired(calibration.a_seconds, calibration.b_seconds, comparison);
  const double widening = std::sqrt(static_cast<double>(calibration.a_seconds.size()) /
                                    static_cast<double>(std::max<std::size_t>(1, options.rounds)));
  noise.smallest_difference =
      itself && !itself->too_few
          ? smallest_difference(half_width(*itself) * widening, options.comparison)
          : std::numeric_limits<double>::infinity();

  Judgement judgement(calibration, noise);
  for (const device::CoreState& core : calibration.after.cores) judgement.look_at(core);
  judgement.look_at_processes();
  noise.too_noisy = noise.smallest_difference > options.wanted || judgement.load_may_hide();
  if (noise.too_noisy && noise.findings.empty())
    noise.advice.push_back(
        "no cause is visible: close other programs, use fewer cores (--threads), or measure more "
        "rounds");
  return noise;
}

std::string warning(const Noise& noise, const NoiseOptions& options) {
  if (!noise.too_noisy) return "";
  std::string what = "the load of other programs may change while hone measures";
  if (!std::isfinite(noise.smallest_difference))
    what = "its noise could not be measured";
  else if (noise.smallest_difference > options.wanted)
    what = fmt::format("differences below {:.1f} % cannot be detected in {} rounds",
                       percent(noise.smallest_difference), options.rounds);
  return fmt::format("noisy machine: {}{}{}; to do: {}", what, noise.findings.empty() ? "" : "; ",
                     fmt::join(noise.findings, "; "), fmt::join(noise.advice, "; "));
}

void to_json(nlohmann::json& json, const Noise& noise) {
  json = {{"smallest_difference", std::isfinite(noise.smallest_difference)
                                      ? nlohmann::json(noise.smallest_difference)
                                      : nlohmann::json()},
          {"spread", noise.spread},
          {"disturbed", noise.disturbed},
          {"outliers", noise.outliers},
          {"too_noisy", noise.too_noisy},
          {"findings", noise.findings},
          {"advice", noise.advice}};
}

}  // namespace hone::measure
