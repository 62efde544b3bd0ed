// Checks of a device's clock, caches and facts.
#pragma once

#include "selftest/result_checks.h"

namespace hone::selftest {

// The device's facts are those recorded for a device of its name.
Check check_facts(const device::Place& place, const Recorded& recorded);
// Steps of the device's events, and whether these run with the host's clock.
Result<Check> check_events(Bench& bench, const TestKernels& kernels);
// A chain of multiply-adds takes as long as the device's clock says.
Result<Check> check_clock(Bench& bench, const TestKernels& kernels, const Recorded& recorded);
// Differences that a comparison of two kernels can tell on this machine.
Result<Check> check_noise(Bench& bench);
// Operands that rotate through more memory than the last-level cache do not come from a cache.
Result<Check> check_rotation(Bench& bench, const TestKernels& kernels);

}  // namespace hone::selftest
