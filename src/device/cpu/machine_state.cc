#include "device/cpu/machine_state.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "device/cpu/system_files.h"
#include "device/raw_clock.h"

namespace hone::device::cpu {
namespace {

// Lines "cpuN user nice system idle iowait irq softirq steal ..." of /proc/stat, in clock ticks.
std::map<int, MachineSampler::CoreTime> core_times() {
  std::map<int, MachineSampler::CoreTime> times;
  std::istringstream stat(system_text("/proc/stat").value_or(""));
  const double tick = 1.0 / static_cast<double>(sysconf(_SC_CLK_TCK));
  for (std::string line; std::getline(stat, line) && line.starts_with("cpu");) {
    if (line.size() < 4 || line[3] == ' ') continue;  // the sum over all cores
    std::istringstream words(line.substr(3));
    int core = 0;
    double user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, softirq = 0, steal = 0;
    words >> core >> user >> nice >> system >> idle >> wait >> irq >> softirq >> steal;
    times[core] = {(user + nice + system + irq + softirq) * tick, steal * tick};
  }
  return times;
}

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

// The clock the kernel reports for `core`, if there is a frequency driver.
std::optional<double> megahertz_of(const std::string& folder) {
  const auto kilohertz = system_number(folder + "cpufreq/scaling_cur_freq");
  if (!kilohertz) return std::nullopt;
  return *kilohertz / 1000;
}

}  // namespace

MachineState MachineSampler::sample() {
  rusage usage{}, children{};
  getrusage(RUSAGE_SELF, &usage);
  getrusage(RUSAGE_CHILDREN, &children);  // IREE's runtime tools, which hone runs and waits for
  Counters counters{.time = raw_seconds(),
                    .cores = core_times(),
                    .own_seconds = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime) +
                                   seconds_of(children.ru_utime) + seconds_of(children.ru_stime),
                    .switches = usage.ru_nivcsw};

  MachineState state;
  std::istringstream load(system_text("/proc/loadavg").value_or(""));
  double ignored = 0;
  load >> state.load_1min >> ignored >> ignored >> state.runnable;
  double busy = 0;
  if (before_) {
    state.seconds = counters.time - before_->time;
    state.involuntary_switches = counters.switches - before_->switches;
  }
  // /proc/stat counts in ticks of 10 ms: shares of a shorter time would be noise.
  const bool shares = before_ && state.seconds >= 0.1;
  for (const int core : cores_) {
    const std::string folder = fmt::format("/sys/devices/system/cpu/cpu{}/", core);
    CoreState& each = state.cores.emplace_back();
    each.core = core;
    each.megahertz = megahertz_of(folder);
    if (const auto count = system_number(folder + "thermal_throttle/core_throttle_count"))
      each.throttles = static_cast<long>(*count);
    each.governor = system_text(folder + "cpufreq/scaling_governor").value_or("");
    if (!shares) continue;
    const CoreTime &then = before_->cores[core], &now_ = counters.cores[core];
    busy += now_.busy - then.busy;
    each.busy = std::clamp((now_.busy - then.busy) / state.seconds, 0.0, 1.0);
    each.stolen = std::clamp((now_.stolen - then.stolen) / state.seconds, 0.0, 1.0);
  }
  if (shares && !cores_.empty()) {
    const double others = busy - (counters.own_seconds - before_->own_seconds);
    state.background =
        std::clamp(others / (state.seconds * static_cast<double>(cores_.size())), 0.0, 1.0);
  }
  before_ = std::move(counters);
  return state;
}

MachineState MachineSampler::sample_in_detail() {
  MachineState state = sample();
  state.processes = processes_.sample();
  return state;
}

}  // namespace hone::device::cpu
