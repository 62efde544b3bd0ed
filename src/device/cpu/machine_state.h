// Samples what the machine is doing, from /proc and sysfs.
#pragma once

#include <memory>
#include <span>

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

 private:
  struct Counters;
  std::unique_ptr<Counters> before_;
  std::vector<int> cores_;
};

// One sample without a past: load, governor, clocks.
MachineState sample_machine_state(std::span<const int> cores);

}  // namespace hone::device::cpu
