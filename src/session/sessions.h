// Sessions of commands that run kernels, of a whole program or of listed dispatches: compile
// workers, runners, store, leases, and the context of the tuning steps.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "output/status_line.h"
#include "problem/target.h"
#include "provider/list_provider.h"
#include "session/places.h"
#include "session/session_options.h"
#include "store/store.h"
#include "tune/dispatch/dispatch_list.h"
#include "tune/services/context.h"

namespace hone::session {

// Parts that every session has.
struct SessionParts {
  SessionParts(const SessionOptions& options, provider::Provider& provider,
               const Toolchain& toolchain, store::Store& store);
  SessionParts(const SessionParts&) = delete;
  // Takes the leases, and puts build and device into the store. Call it first.
  Status begin(const store::BuildRow& build);

  trial::RunnerService runner;
  std::vector<trial::RunnerService> more_runners;  // of the further places
  output::StatusLine status;
  tune::Context context;
  std::optional<trial::LeaseKeeper> leases;
};

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

// Return the store's row of the compiler with the flags of `options` and this target: of programs,
// and of a list ("sm_90").
store::BuildRow build_row(const Toolchain& toolchain, const tune::Options& options,
                          const std::optional<problem::GpuTarget>& gpu,
                          const problem::CpuTarget& target);
store::BuildRow build_row(const Toolchain& toolchain, const tune::Options& options,
                          const std::string& target);

// Returns the list in the tuner's form.
tune::DispatchList dispatch_list(const provider::ListProvider& listed);

// Completes `options`: budget, flags, cache, compile processes. `facts`: the device that the
// kernels are for. Errors: an input error for a duration that cannot be parsed, those of
// ListProvider::flags.
Status complete(SessionOptions& options, const provider::ListProvider& listed,
                const device::Facts& facts);

class ListSession {
 public:
  // `provider`: the name that `listed` is registered under. Errors: input for wrong options and for
  // dispatches that do not fit the device, environment where a driver, a device or the compiler is
  // missing. Nothing is made before these are known to be there.
  static Result<std::unique_ptr<ListSession>> open(SessionOptions options,
                                                   const std::string& provider,
                                                   std::unique_ptr<provider::ListProvider> listed);
  ListSession(const ListSession&) = delete;

  const SessionOptions& options() const { return options_; }
  const provider::ListProvider& listed() const { return *listed_; }
  store::Store& store() { return store_; }
  output::StatusLine& status() { return parts_.status; }
  tune::Context& context() { return parts_.context; }
  tune::DispatchList dispatch_list() const;
  // Returns `error`; for a stopped session, with where the results are and how to go on.
  Error stopped(const Error& error, const std::string& results) const;

 private:
  ListSession(SessionOptions options, std::unique_ptr<provider::ListProvider> listed,
              std::unique_ptr<provider::Provider> provider, Leases held, store::Store store,
              Toolchain toolchain);

  // Opens a list for --measure-only, or one that another run has measured: without a compiler.
  static Result<std::unique_ptr<ListSession>> open_without_compiler(
      SessionOptions options, std::unique_ptr<provider::ListProvider> listed);

  SessionOptions options_;
  std::unique_ptr<provider::ListProvider> listed_;
  std::unique_ptr<provider::Provider> provider_;
  Leases held_;
  store::Store store_;
  Toolchain toolchain_;
  std::optional<tune::MeasuredWork> to_measure_;  // logged at the end
  SessionParts parts_;
};

}  // namespace hone::session
