// Which processes use the processor: so that a user who is told that a machine is too noisy is told
// by whom. From /proc/<pid>/stat (proc(5)).
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "device/machine_state.h"

namespace hone::device::cpu {

// One process in /proc/<pid>/stat.
struct ProcessStat {
  std::string name;  // at most 15 bytes, as the kernel keeps it
  int parent = 0;
  long ticks = 0;  // of processor time, user and system
  int threads = 1;
  int core = 0;  // it last ran on
  bool operator==(const ProcessStat&) const = default;
};

// Nothing when `text` is not of that form. The name may hold blanks and parentheses.
std::optional<ProcessStat> parse_process_stat(std::string_view text);

class ProcessSampler {
 public:
  explicit ProcessSampler(std::span<const int> cores) : cores_(cores.begin(), cores.end()) {}

  // Other processes that took 2 % of a core or more since the previous call and that last ran on
  // one of the cores, or have several threads, of which some may have; busiest first. None in a
  // first call. This process, what it started and the one that started it are left out. Never
  // fails.
  std::vector<BusyProcess> sample();

 private:
  std::vector<int> cores_;
  std::map<int, ProcessStat> before_;  // by pid
  double before_at_ = 0;
};

}  // namespace hone::device::cpu
