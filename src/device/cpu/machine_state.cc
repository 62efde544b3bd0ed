#include "device/cpu/machine_state.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <sstream>

#include "device/cpu/target.h"
#include "device/device.h"

namespace hone::device::cpu {
namespace {

constexpr double kLeastShare = 0.02;
// Ticks are 10 ms: over a shorter time one of them would be a large share.
constexpr double kShortest = 0.05;

std::map<int, ProcessStat> all_processes() {
  std::map<int, ProcessStat> processes;
  std::error_code code;
  for (auto entry = std::filesystem::directory_iterator("/proc", code);
       !code && entry != std::filesystem::directory_iterator(); entry.increment(code)) {
    const std::string name = entry->path().filename().string();
    int pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error != std::errc() || end != name.data() + name.size()) continue;
    const auto text = system_text(entry->path() / "stat");
    if (!text) continue;  // it has just ended
    if (auto stat = parse_process_stat(*text)) processes[pid] = std::move(*stat);
  }
  return processes;
}

bool is_ours(int pid, const std::map<int, ProcessStat>& processes) {
  if (pid == getppid()) return true;
  while (pid != getpid()) {
    const auto found = processes.find(pid);
    if (found == processes.end() || found->second.parent == pid) return false;
    pid = found->second.parent;
  }
  return true;
}

}  // namespace

std::optional<ProcessStat> parse_process_stat(std::string_view text) {
  const std::size_t open = text.find('('), close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open)
    return std::nullopt;
  ProcessStat stat;
  stat.name = text.substr(open + 1, close - open - 1);
  std::istringstream words{std::string(text.substr(close + 1))};
  // Behind the name, field 2: state is field 3, ppid 4, utime 14, stime 15, num_threads 20,
  // processor 39.
  std::string word;
  int field = 2;
  while (words >> word) {
    ++field;
    const auto number = [&word] { return std::strtol(word.c_str(), nullptr, 10); };
    if (field == 4) stat.parent = static_cast<int>(number());
    if (field == 14 || field == 15) stat.ticks += number();
    if (field == 20) stat.threads = static_cast<int>(number());
    if (field == 39) stat.core = static_cast<int>(number());
  }
  if (field < 39) return std::nullopt;
  return stat;
}

std::vector<BusyProcess> ProcessSampler::sample() {
  std::map<int, ProcessStat> processes = all_processes();
  const double at = raw_seconds();
  const double seconds = at - before_at_;
  std::vector<BusyProcess> busy;
  for (const auto& [pid, stat] : processes) {
    const auto before = before_.find(pid);
    if (before == before_.end() || seconds < kShortest || is_ours(pid, processes)) continue;
    const bool ours = std::ranges::count(cores_, stat.core) > 0;
    const double share = static_cast<double>(stat.ticks - before->second.ticks) /
                         static_cast<double>(sysconf(_SC_CLK_TCK)) / seconds;
    if (share >= kLeastShare && (ours || stat.threads > 1))
      busy.push_back({.pid = pid, .name = stat.name, .share = share, .core = stat.core});
  }
  std::ranges::sort(busy, std::greater(), &BusyProcess::share);
  before_ = std::move(processes);
  before_at_ = at;
  return busy;
}

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
