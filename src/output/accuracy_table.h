// Accuracy table of hone tune: kernels that replace the compiler's, beside the compiler's own.
#pragma once

#include <cstddef>
#include <cstdint>

#include "output/table.h"
#include "tune/tuning_run.h"

namespace hone::output {

// Returns two rows for each output of such a kernel, the compiler's own first. A row counts the
// compared elements by their error in steps of their type (ulp) against double precision, and names
// the first that is off. Lists the `most` kernels with the fewest exact elements, worst first.
// Empty if no kernel replaces the compiler's.
Table accuracy_table(const tune::TuningResult& result, std::size_t most = SIZE_MAX);

}  // namespace hone::output
