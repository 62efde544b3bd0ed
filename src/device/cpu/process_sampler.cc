#include "device/cpu/process_sampler.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <sstream>

#include "device/cpu/system_files.h"
#include "device/raw_clock.h"

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

}  // namespace hone::device::cpu
