// What a tuning on a GPU came to beyond the closing table: the device's side of it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "output/measured_dispatch.h"
#include "output/table.h"
#include "store/store.h"

namespace hone::output {

// Time that tuning a dispatch took.
struct Spent {
  double seconds = 0;       // wall
  double busy_seconds = 0;  // of these the device ran kernels for verification or measurement
};

struct GpuReport {
  // One row per dispatch of the program: tried, compiled and right candidates, those
  // compiled when the time was over and never run, and wrong ones; best and worst time,
  // each library's own choice and its best with how they compare with the tuned one, share of the
  // roofline (measured_dispatch.h), wall time, share of it that the device was idle, and the
  // device's state while the finalists ran: lowest clock, most power, why the clock was held down.
  Table table{{}};
  // One line each: where the roofline's figures come from, and dispatches that were measured below
  // the highest clock.
  std::vector<std::string> notes;
};

// `spent`: by dispatch; none for those whose results were in the store. `libraries`: those for
// GPUs, two columns each.
Result<GpuReport> gpu_report(store::Store& store, store::Id program, store::Id build,
                             store::Id device, const std::map<store::Id, Spent>& spent,
                             const std::vector<LibraryColumn>& libraries);

}  // namespace hone::output
