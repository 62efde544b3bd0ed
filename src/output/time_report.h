// Table of a tuning's time by phase.
#pragma once

#include "output/table.h"
#include "trial/time_budget.h"

namespace hone::output {

// Returns a row per phase that took any time, and per stage of compiling. "share" is of the
// session's wall time, or of the compile workers' time.
Table time_table(trial::TimeBudget& time);

}  // namespace hone::output
