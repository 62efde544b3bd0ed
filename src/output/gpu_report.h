// Report of a tuning on a GPU, beside the closing table: counts, library times and device state.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "output/measured_dispatch.h"
#include "output/table.h"
#include "store/store.h"

namespace hone::output {

// Time spent on tuning a dispatch.
struct Spent {
  double seconds = 0;       // wall
  double busy_seconds = 0;  // of these the device ran kernels for verification or measurement
};

struct GpuReport {
  // Row per dispatch of the program:
  // - counts of candidates: tried, compiled, right, wrong; compiled but not run when time was up
  // - best and worst time
  // - each library's own choice and its best, with their ratio to the tuned kernel
  // - share of the roofline (measured_dispatch.h)
  // - wall time, and the share of it that the device was idle
  // - device state while the finalists ran: lowest clock, most power, why the clock was held down
  Table table{{}};
  // Lines with the source of the roofline's figures, and with dispatches that were measured below
  // the highest clock.
  std::vector<std::string> notes;
};

// Reads the report from the store. `spent`: by dispatch; none for those whose results were in the
// store. `libraries`: those for GPUs, two columns each.
Result<GpuReport> gpu_report(store::Store& store, store::Id program, store::Id build,
                             store::Id device, const std::map<store::Id, Spent>& spent,
                             const std::vector<LibraryColumn>& libraries);

}  // namespace hone::output
