// What commands that work on a whole program need open: compiler, runner, store, leases.
#pragma once

#include <functional>
#include <optional>

#include "cli/status_line.h"
#include "cli/tune_options.h"
#include "problem/target.h"
#include "tune/services/context.h"

namespace hone::cli {

struct ProgramSession {
  TuneOptions& options;  // completed: cores, target, flags
  store::Store& store;
  tune::Context& context;  // its build and device are set
  StatusLine& status;

  // The error of a session: of one that was stopped, with what there is in the store.
  Error stopped(const Error& error) const;
};

// Opens what `options` say, calls `action` and closes it again. Errors: of the command line's
// values; environment errors where a compiler, a driver or a lease cannot be had; those of
// `action`.
CommandResult with_program_session(TuneOptions options,
                                   const std::function<CommandResult(ProgramSession&)>& action);

// The compiler with these flags and this target, for the store.
store::Build build_row(const Toolchain& toolchain, const tune::Options& options,
                       const std::optional<problem::GpuTarget>& gpu,
                       const problem::CpuTarget& target);

}  // namespace hone::cli
