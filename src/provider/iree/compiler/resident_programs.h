// Whole programs timed one after the other in a process of IREE's runtime that stays: it opens the
// device and maps files of weights once, where iree-benchmark-module does so for each sample. Each
// sample loads its module anew all the same, since where its memory lies is worth some percent.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "provider/iree/compiler/library.h"
#include "provider/program_provider.h"

namespace hone::iree {

// The process is Python's (python/resident_programs.py), as the wheel has no library for C. Where
// that cannot be (no Python, no NumPy, flags of the runtime's tools that it does not know), every
// sample is a process of iree-benchmark-module. Not thread-safe.
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

  // That for the call's device and flags, started where there is none; nullptr where it cannot be.
  Result<Process*> process_for(const provider::ProgramCall& call);

  Installation installation_;
  std::vector<std::unique_ptr<Process>> processes_;
  bool can_be_ = true;  // no start of a process has failed
  bool resident_ = false;
};

}  // namespace hone::iree
