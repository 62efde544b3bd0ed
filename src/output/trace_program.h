// The tracks of whole-program builds: a call of the program and its launches.
#pragma once

#include "base/result.h"
#include "output/trace_events.h"
#include "store/store.h"

namespace hone::output {

// Adds a process for each build of the program that the run has timed in its proof, the default's
// first, with the tracks of trace_file.h beginning at `begin`.
Status add_builds(TraceEvents& trace, store::Store& store, const store::Run& run, double begin);

}  // namespace hone::output
