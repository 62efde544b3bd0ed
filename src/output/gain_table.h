// Gain table of hone tune: the gain that a spec's kernels predict, and its part that arrives in the
// whole program.
#pragma once

#include <string>

#include "output/table.h"
#include "tune/program/program_gain.h"

namespace hone::output {

// Returns a waterfall of a call's time. Its rows are the flags' gain, each kernel with a spec entry
// and its provider, the other kernels, the time between kernels, and the whole. Long lists keep the
// first kernels by predicted gain.
Table gain_table(const tune::ProgramGain& gain);

// Returns "94 % of what its kernels promise arrives in the program (9.4 of 10 ms).". If a tenth or
// more is missing, the text says where it went, as far as that is known.
std::string words_of_gain(const tune::ProgramGain& gain);

}  // namespace hone::output
