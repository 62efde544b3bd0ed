// Timing of whole programs one after the other in a resident process of IREE's runtime. The process
// opens the device and maps weight files once; iree-benchmark-module does so for each sample. Each
// sample still loads its module anew, since the place of its memory changes times by some percent.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "provider/iree/compiler/library.h"
#include "provider/program_runtime.h"

namespace hone::iree {

// The process runs Python (python/resident_programs.py), because the wheel has no C library. If it
// cannot run, every sample is a process of iree-benchmark-module. Reasons are no Python, no NumPy,
// or flags of the runtime's tools that it does not know. Not thread-safe.
class ResidentPrograms {
 public:
  explicit ResidentPrograms(Installation installation);
  ResidentPrograms(ResidentPrograms&&) noexcept;
  ~ResidentPrograms();  // ends the processes

  // Seconds per call, the mean over calls that together take about `seconds`, after one or more
  // that are not timed. Errors: benchmark_module's.
  Result<double> time(const provider::ProgramCall& call, double seconds);

  // Whether the last sample came from a process that stays.
  bool is_resident() const { return resident_; }

 private:
  class Process;

  // Returns the process for the call's device and flags, and starts it if there is none. nullptr if
  // the process cannot serve the call.
  Result<Process*> process_for(const provider::ProgramCall& call);

  Installation installation_;
  std::vector<std::unique_ptr<Process>> processes_;
  bool can_be_ = true;  // no start of a process has failed
  bool resident_ = false;
};

}  // namespace hone::iree
