// What commands that work on a whole program need open: compiler, runner, store, leases.
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

  // The error of a session: of one that was stopped, with what there is in the store.
  Error stopped(const Error& error) const;
};

// Opens what `options` say, calls `action` and closes it again. Errors: of the command line's
// values; environment errors where a compiler, a driver or a lease cannot be had; those of
// `action`.
Result<int> with_program_session(SessionOptions options,
                                 const std::function<Result<int>(ProgramSession&)>& action);

// The compiler with these flags and this target, for the store.
store::Build build_row(const Toolchain& toolchain, const tune::Options& options,
                       const std::optional<problem::GpuTarget>& gpu,
                       const problem::CpuTarget& target);

}  // namespace hone::session
