// Shows where a tuning's time went, as a table.
#pragma once

#include "output/table.h"
#include "trial/time_budget.h"

namespace hone::output {

// One row per phase that took any time, and per stage of compiling. "share" is of the session's
// wall time, or of the time of the compile workers.
Table time_table(trial::TimeBudget& time);

}  // namespace hone::output
