// Profiles a program before tuning. Each distinct dispatch is timed inside the running program, as
// the runtime reports it, and alone, as the compiler builds it.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "tune/program_tuning.h"

namespace hone::tune {

struct DispatchProfile {
  const problem::Dispatch* dispatch = nullptr;
  // Seconds per launch of the verified kernel alone; none if `why_not` says why, or if only the
  // whole program was profiled.
  std::optional<double> seconds = {};
  std::string why_not = {};
  // Seconds per launch inside the running program; none if the runtime does not report it.
  std::optional<double> seconds_in_place = {};
  // Roofline times at the device's measured peak; 0 if unknown. Memory time counts the bytes of the
  // views, each once, if the last-level cache does not hold them.
  double bytes = 0;  // of its views, each once
  double arithmetic_seconds = 0, memory_seconds = 0;

  // Seconds in place if known, else alone; none if neither is known.
  std::optional<double> launch_seconds() const;
  double call_seconds() const;  // of all its launches in one call of the program; 0: not measured
  double bound_seconds() const { return std::max(arithmetic_seconds, memory_seconds); }
  // Names the limit: "memory" or "arithmetic" if the launch is near that bound, else "launching"
  // for a launch of a few microseconds. Otherwise "its code", which tuning may change. Empty if it
  // was not measured, or if the device's peak is unknown.
  std::string limit() const;
};

struct ProgramProfile {
  std::vector<DispatchProfile> dispatches;  // in the program's order
  std::optional<double> program_seconds;    // of one call under the provider's runtime
  std::string why_not;  // there is no such time, or there are none in place where there might be

  // Seconds of a call's launches that were measured alone or in place; none if no dispatch was.
  std::optional<double> sum_alone() const;
  std::optional<double> sum_in_place() const;
};

// Returns the compile request for a profile, which reuses the frontend compile that the program is
// split from. `bytes`: content of the program's file.
trial::ProgramToCompile program_to_profile(const Options& options, const std::string& bytes);

// Profiles the program that `session` has loaded. With `alone`, each dispatch is also verified and
// measured alone, and the store keeps the results. Without it, all times come from runs of the
// whole program, and roofline times are not computed. Errors: the session was told to stop. A
// dispatch that cannot be measured is not an error.
Result<ProgramProfile> profile_program(Context& context, ProgramTuning& session, bool alone);

}  // namespace hone::tune
