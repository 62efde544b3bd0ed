// hone tune: what a spec's kernels promise, and what of it arrives in the whole program.
#pragma once

#include <string>

#include "output/table.h"
#include "tune/program/program_gain.h"

namespace hone::output {

// A waterfall of a call's time: what the flags bring, each kernel with an entry (of many the first
// ones by what they promise) and who made it, the other kernels, what is between them, and the
// whole.
Table gain_table(const tune::ProgramGain& gain);

// "94 % of what its kernels promise arrives in the program (9.4 of 10 ms)."; with where the rest
// went, as far as it is known, when a tenth of it or more does not.
std::string words_of_gain(const tune::ProgramGain& gain);

}  // namespace hone::output
