// Samples what the machine is doing, from /proc and sysfs.
#pragma once

#include <memory>
#include <span>

#include "device/cpu/process_sampler.h"
#include "device/machine_state.h"

namespace hone::device::cpu {

// Remembers the counters of the sample before, so that shares are of the time in between.
class MachineSampler {
 public:
  explicit MachineSampler(std::span<const int> cores);
  ~MachineSampler();
  MachineSampler(MachineSampler&&) noexcept;
  MachineSampler& operator=(MachineSampler&&) noexcept;

  // Never fails: what the system does not tell is left empty.
  MachineState sample();
  // Names the processes too that took part of these cores since the previous sample_in_detail();
  // none in a first one.
  MachineState sample_in_detail();

 private:
  struct Counters;
  std::unique_ptr<Counters> before_;
  ProcessSampler processes_;
  std::vector<int> cores_;
};

}  // namespace hone::device::cpu
