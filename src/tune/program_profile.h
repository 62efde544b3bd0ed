// Says where a program's time goes before anything is tuned: what each distinct dispatch takes
// while the program runs, as the runtime tells it, and by itself, as the compiler makes it.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "tune/program_tuning.h"

namespace hone::tune {

struct DispatchProfile {
  const problem::Dispatch* dispatch = nullptr;
  // Per launch by itself, of a kernel that was verified; none where `why_not` says why.
  std::optional<double> seconds = {};
  std::string why_not = {};
  // Per launch while the whole program runs; none where the runtime does not tell.
  std::optional<double> seconds_in_place = {};
  // What the device's measured peak needs for its arithmetic, and its bandwidth for the bytes of
  // its views, each once, where the last-level cache does not hold them; 0 where it is not known.
  double bytes = 0;  // of its views, each once
  double arithmetic_seconds = 0, memory_seconds = 0;

  // In place where that is known, else by itself; none where neither is.
  std::optional<double> launch_seconds() const;
  double call_seconds() const;  // of all its launches in one call of the program; 0: not measured
  double bound_seconds() const { return std::max(arithmetic_seconds, memory_seconds); }
  // "memory" or "arithmetic" where it comes near that bound; else "launching" for one of a few
  // microseconds, and "its code" for what tuning may change. Empty where it was not measured, or
  // the device's peak is not known.
  std::string limit() const;
};

struct ProgramProfile {
  std::vector<DispatchProfile> dispatches;  // in the program's order
  std::optional<double> program_seconds;    // of one call under the provider's runtime
  std::string why_not;  // there is no such time, or there are none in place where there might be

  // Seconds of all launches of a call that were measured so; nothing when none was.
  std::optional<double> sum_alone() const;
  std::optional<double> sum_in_place() const;
};

// The program whose `bytes` these are, as it is compiled to be profiled: from the front half that
// it is split from.
trial::ProgramToCompile program_to_profile(const Options& options, const std::string& bytes);

// Profiles the program that `session` has loaded. `alone`: each dispatch is verified and measured
// by itself too, of which the store keeps what it knows; without, all comes from runs of the whole,
// and what the device could do at most is not asked. Errors: the session was told to stop; a
// dispatch that cannot be measured is none.
Result<ProgramProfile> profile_program(Context& context, ProgramTuning& session, bool alone);

}  // namespace hone::tune
