// Samples the state of the machine from /proc and sysfs.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <vector>

#include "device/cpu/process_sampler.h"
#include "device/machine_state.h"

namespace hone::device::cpu {

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
