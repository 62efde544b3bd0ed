// Measurement protocols as data. Times measured under other constants or another version are never
// compared with these. They are part of the device identity (store::DeviceRow).
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "device/place.h"
#include "measure/sampling.h"

namespace hone::trial {

// Version of the protocols. Raise it when measuring changes by more than the constants below: what
// is timed, in which order, what is skipped.
inline constexpr int kProtocolVersion = 3;

// Measures a candidate beside the default, whose launch takes `default_seconds`: enough to rank
// candidates.
measure::Protocol search_protocol(double default_seconds, const device::Traits& traits);
// Samples finalists of about this time in one round. All finalists of a round share one protocol.
measure::Protocol finalist_protocol(double seconds_per_launch,
                                    const device::Traits& traits = device::Traits());
// Further constants that the finalists' times depend on: the number of rounds, and when they end.
nlohmann::json finalist_round_constants(const device::Traits& traits);
// Measures a library's kernels, of which the fastest is compared.
measure::Protocol baseline_protocol();
inline constexpr int kBaselineRounds = 16;  // a median's 95 % interval within a percent or two
// Measures one round of the winner and the default as they ship, where a driver assembles them.
measure::Protocol shipped_protocol();
inline constexpr int kShippedRounds = 8;  // enough for a verdict at 5 % (six) with some to spare

// Measures one load of two kernels that a user compares: `samples` of each.
measure::Protocol comparison_protocol(std::size_t samples);
// Number of rounds for whole programs, under the provider's own runtime. Each sample loads its
// program anew (ProgramRuntime::timers).
inline constexpr std::size_t kProgramRounds = 12;
inline constexpr double kProgramSampleSeconds = 0.15;

// The version, and every constant of the protocols in use on a device of these traits: made by the
// very functions that measuring asks, for a short and for a long kernel.
nlohmann::json protocols_in_use(const device::Traits& traits);

}  // namespace hone::trial
