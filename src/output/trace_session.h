// The tracks of one run, from its timeline.
#pragma once

#include <map>

#include "output/trace_events.h"
#include "store/store.h"
#include "trial/timeline.h"

namespace hone::output {

using CandidatesById = std::map<store::Id, store::CandidateRow>;

// Adds the tracks of a session that began at `begin` (trace_file.h) to the process.
void add_session(TraceEvents& trace, int process, const trial::Timeline& timeline, double begin,
                 const CandidatesById& candidates);

}  // namespace hone::output
