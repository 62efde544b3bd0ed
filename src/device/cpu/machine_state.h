// Samples the state of the machine from /proc and sysfs.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "device/machine_state.h"

namespace hone::device::cpu {

// A process in /proc/<pid>/stat (proc(5)).
struct ProcessStat {
  std::string name;  // at most 15 bytes, as the kernel keeps it
  int parent = 0;
  long ticks = 0;  // of processor time, user and system
  int threads = 1;
  int core = 0;  // it last ran on
  bool operator==(const ProcessStat&) const = default;
};

// Returns nullopt if `text` is not of that form. The name may hold blanks and parentheses.
std::optional<ProcessStat> parse_process_stat(std::string_view text);

// Finds the processes that use the processor, so that the report of a noisy machine can name them.
class ProcessSampler {
 public:
  explicit ProcessSampler(std::span<const int> cores) : cores_(cores.begin(), cores.end()) {}

  // Returns the other processes that used at least 2 % of a core since the previous call, busiest
  // first. Each last ran on one of the cores, or has several threads, of which some may have. The
  // first call returns none. This process, its parent and the processes it started are omitted.
  // Never fails.
  std::vector<BusyProcess> sample();

 private:
  std::vector<int> cores_;
  std::map<int, ProcessStat> before_;  // by pid
  double before_at_ = 0;
};

// Remembers the counters of the sample before, so that shares are of the time in between.
class MachineSampler {
 public:
  // Processor time of one core since boot, in seconds.
  struct CoreTime {
    double busy = 0, stolen = 0;
  };

  explicit MachineSampler(std::span<const int> cores)
      : processes_(cores), cores_(cores.begin(), cores.end()) {}

  // Never fails: facts that the system does not report are empty.
  MachineState sample();
  // Names the processes too that took part of these cores since the previous sample_in_detail();
  // none in a first one.
  MachineState sample_in_detail();

 private:
  struct Counters {
    double time = 0;
    std::map<int, CoreTime> cores = {};
    double own_seconds = 0;  // of this process and of its children that have ended
    long switches = 0;
  };
  std::optional<Counters> before_;
  ProcessSampler processes_;
  std::vector<int> cores_;
};

}  // namespace hone::device::cpu
