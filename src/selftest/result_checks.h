// Checks of what a device computes, and of how hone notices what goes wrong there.
#pragma once

#include <map>
#include <string>

#include "selftest/bench.h"
#include "selftest/check.h"

namespace hone::selftest {

using TestKernels = std::map<std::string, TestKernel>;

// Data go to the device, through a kernel and back, at 4 bytes, 16 KiB and 16 MiB.
Result<Check> check_copies(Bench& bench, const TestKernels& kernels);
// Kernels of many kinds give the bits that every device gives: exact sums of whole numbers.
Result<Check> check_kernels(Bench& bench, const TestKernels& kernels, const Recorded& recorded);
// A kernel that writes behind its output is noticed.
Result<Check> check_guards(Bench& bench, const TestKernels& kernels);
// A read of address 0 and an endless kernel cost one call each; the next kernel is right again.
Result<Check> check_faults(Bench& bench, const TestKernels& kernels);
// A vendor's library multiplies correctly.
Result<Check> check_library(Bench& bench, const TestKernels& kernels);

}  // namespace hone::selftest
