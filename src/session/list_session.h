// Session of a command that runs kernels for listed dispatches: devices, store, compile workers,
// runners and the context of the tuning steps.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "output/status_line.h"
#include "provider/list_provider.h"
#include "session/places.h"
#include "session/session_options.h"
#include "store/store.h"
#include "tune/dispatch/dispatch_list.h"

namespace hone::session {

// Returns the list in the tuner's form.
tune::DispatchList dispatch_list(const provider::ListProvider& listed);

// Completes `options`: budget, flags, cache, compile processes. `facts`: the device that the
// kernels are for. Errors: an input error for a duration that cannot be parsed, those of
// ListProvider::flags.
Status complete(SessionOptions& options, const provider::ListProvider& listed,
                const device::Facts& facts);

// The running compile workers of a listed provider, and the command's folder for temporary files.
class ListToolchain {
 public:
  // `provider`: the name that `listed` is registered under. `compiler`: that it found. Errors:
  // those of start_compile_workers() and start_program_workers().
  static Result<ListToolchain> start(const std::string& provider,
                                     const provider::ListProvider& listed,
                                     const provider::FoundCompiler& compiler,
                                     const device::Facts& facts, const ToolchainOptions& options);

  trial::CompileService& compiler() { return *compiler_; }
  int stop_fd() const { return stop_.fd(); }
  worker::RunnerProcess make_runner() const;
  // The build's row in the store, of what is compiled for `target`.
  store::BuildRow build_row(const tune::Options& options, const std::string& target) const;

 private:
  ListToolchain(worker::TunerFolder folder, StopSignal stop, std::string name)
      : folder_(std::move(folder)), stop_(std::move(stop)), name_(std::move(name)) {}
  worker::TunerFolder folder_;
  StopSignal stop_;
  std::string name_;  // the compiler's
  std::unique_ptr<worker::WorkerPool> pool_;
  std::unique_ptr<trial::CompileService> compiler_;
};

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
  output::StatusLine& status() { return status_; }
  tune::Context& context() { return context_; }
  // Returns `error`; for a stopped session, with where the results are and how to go on.
  Error stopped(const Error& error, const std::string& results) const;

 private:
  ListSession(SessionOptions options, std::unique_ptr<provider::ListProvider> listed,
              std::unique_ptr<provider::Provider> provider, std::vector<device::LockFile> held,
              store::Store store, ListToolchain toolchain);
  Status begin();

  SessionOptions options_;
  std::unique_ptr<provider::ListProvider> listed_;
  std::unique_ptr<provider::Provider> provider_;
  std::vector<device::LockFile> held_;  // on the devices
  store::Store store_;
  ListToolchain toolchain_;
  trial::RunnerService runner_;
  std::vector<trial::RunnerService> more_runners_;
  output::StatusLine status_;
  tune::Context context_;
  std::optional<trial::LeaseKeeper> leases_;
};

}  // namespace hone::session
