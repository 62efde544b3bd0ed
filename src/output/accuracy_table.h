// hone tune: how exact the kernels are that take the compiler's place, beside the compiler's own.
#pragma once

#include <cstddef>
#include <cstdint>

#include "output/table.h"
#include "tune/tuning_run.h"

namespace hone::output {

// Two rows for each output of such a kernel, the compiler's own first: how many of the elements
// looked at are off by how many steps of their type (ulp) from what double precision gives, and the
// first one that is. The kernels with the fewest exact elements come first, `most` of them. Empty
// where nothing takes the compiler's place.
Table accuracy_table(const tune::TuningResult& result, std::size_t most = SIZE_MAX);

}  // namespace hone::output
