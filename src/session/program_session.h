// Session of a command that works on a whole program: compiler, runner, store, leases.
#pragma once

#include <functional>
#include <optional>

#include "output/status_line.h"
#include "problem/target.h"
#include "session/session_options.h"
#include "tune/services/context.h"

namespace hone::session {

struct ProgramSession {
  SessionOptions& options;  // completed: cores, target, flags
  store::Store& store;
  tune::Context& context;  // its build and device are set
  output::StatusLine& status;

  // Returns `error`; for a stopped session, with the results that the store holds.
  Error stopped(const Error& error) const;
};

// Opens the session that `options` describe, calls `action` and closes the session. Errors: input
// errors of the command line's values; environment errors if a compiler, a driver or a lease is not
// available; those of `action`.
Result<int> with_program_session(SessionOptions options,
                                 const std::function<Result<int>(ProgramSession&)>& action);

// Returns the store's row of the compiler with these flags and this target.
store::BuildRow build_row(const Toolchain& toolchain, const tune::Options& options,
                          const std::optional<problem::GpuTarget>& gpu,
                          const problem::CpuTarget& target);

}  // namespace hone::session
