// Where a program's time goes, before anything is tuned: each distinct dispatch by itself, as the
// compiler makes it, times its launches, and the whole program beside their sum.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "tune/session.h"

namespace hone::tune {

struct DispatchProfile {
  const problem::Dispatch* dispatch = nullptr;
  // Per launch, of a kernel that was verified; none where `why_not` says why.
  std::optional<double> seconds = {};
  std::string why_not = {};
  // What the device's measured peak needs for its arithmetic, and its bandwidth for the bytes of
  // its views, each once, where the last-level cache does not hold them; 0 where it is not known.
  double bytes = 0;  // of its views, each once
  double arithmetic_seconds = 0, memory_seconds = 0;

  double call_seconds() const;  // of all its launches in one call of the program; 0: not measured
  double bound_seconds() const { return std::max(arithmetic_seconds, memory_seconds); }
  // "memory" or "arithmetic" where it comes near that bound; else "launching" for one of a few
  // microseconds, and "its code" for what tuning may change. Empty where it was not measured.
  std::string limit() const;
};

struct ProgramProfile {
  std::vector<DispatchProfile> dispatches;  // in the program's order
  std::optional<double> program_seconds;    // of one call under the provider's runtime
  std::string why_not;                      // there is no such time

  double sum_seconds() const;  // of all call_seconds()
};

// Of the program that `session` has loaded. What the store knows is not measured again. Errors: the
// session was told to stop; a dispatch that cannot be measured is none.
Result<ProgramProfile> profile_program(Context& context, Session& session);

}  // namespace hone::tune
