// hone report --trace: the runs of a store on a time axis, for Perfetto (ui.perfetto.dev).
#pragma once

#include <filesystem>

#include "base/result.h"
#include "output/json_text.h"
#include "store/store.h"

namespace hone::output {

// Returns the trace of a store. Each run is a process with the tracks
// - run: from its start to its end
// - tuner, device, waits: its phases (trial::Activity); their sums are the time table's. A slice
//   says what it is about in a slice within: "12 kernels", "round 3 of 8"
// - compile worker N: candidates, within each the stages of its compile; other jobs by their kind
// and each whole-program build that was timed in a run has the tracks `call` and `launches`. They
// begin when the run begins. Launches last as long as the kernels alone: those of the defaults in
// builds without a spec, those that ship in the others. A dispatch that was not measured under the
// build's flags has none.
// A run without a timeline (killed, or of an older hone) has the track `run` only.
// An input error where the store holds no run.
Result<Json> trace_of(store::Store& store);

// Writes trace_of() to `file`.
Status write_trace(store::Store& store, const std::filesystem::path& file);

}  // namespace hone::output
