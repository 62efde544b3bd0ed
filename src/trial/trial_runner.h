// Runs a dispatch's trials. Known results come from the store; the rest is leased, compiled,
// verified and measured. Each step's result is stored as soon as the step ends.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/stopwatch.h"
#include "problem/dispatch.h"
#include "provider/artifact.h"
#include "provider/suspicion.h"
#include "store/rows.h"
#include "trial/kernel_runner.h"
#include "trial/lease_keeper.h"

namespace hone::trial {

enum class TrialState {
  kProposed,
  kLeasedByOther,  // another tuner on the store is at it: to be looked at again later
  kCompiling,
  kCompiled,  // its code has an identity
  kVerified,  // right, and not measured yet
  kMeasured,
  kFailed,
};

// A trial: one candidate's way from its proposal to its row in the store.
struct Trial {
  store::Id candidate = 0;
  std::optional<provider::Payload> payload;  // none: the compiler's own choice
  TrialState state = TrialState::kProposed;
  std::string identity;                           // of its code; empty until it is compiled
  std::optional<provider::Failure> failure = {};  // of kFailed
  // Time of a launch, and its ratio to the default's time in the same rounds, for kMeasured.
  // `noise` is the ratio's relative standard error, if it was measured in this session.
  std::optional<store::Timing> timing = {};
  std::optional<double> ratio = {}, noise = {};
  bool ignore_stored_failure = false;
  // Suspected mistakes, asked for when the candidate is wrong.
  std::function<std::vector<provider::Suspicion>()> suspicions = {};

  bool is_done() const { return state == TrialState::kMeasured || state == TrialState::kFailed; }
  // Whether it waits for a lease of another tuner or for its compile.
  bool is_pending() const {
    return state == TrialState::kLeasedByOther || state == TrialState::kCompiling;
  }
  void fail(provider::Failure why) {
    failure = std::move(why);
    state = TrialState::kFailed;
  }
};

using Trials = std::vector<Trial*>;

// Services and settings that all trials of a session share. References outlive their runners.
struct Services {
  CompileService& compiler;
  store::Store& store;
  LeaseKeeper* leases = nullptr;         // none: no other tuner works on the store
  TimeBudget* time = nullptr;            // may be none
  std::optional<store::Id> device = {};  // none: nothing is run
  std::vector<int> cores = {};           // the host's that run kernels
  store::Reuse reuse = store::Reuse::kEqualIdentities;
  store::Trust trust = store::Trust::kOwn;
  bool retry_failed = false;  // still_holds
  Clock clock = monotonic_seconds;
};

// Steps that trials take after their compile.
struct Steps {
  bool verify = true, measure = true;
  // Requires comparison with the dispatch's default: a known result must have a ratio, and its code
  // if it may win.
  bool beside_default = true;
};

// Runs the trials of one dispatch. For one thread.
class TrialRunner {
 public:
  // `server` compiles the dispatch's candidates. It is prepared when the first of them is compiled.
  TrialRunner(const Services& services, store::Id dispatch, std::vector<problem::Binding> bindings,
              DispatchToPrepare server, Steps steps = {})
      : services_(services),
        dispatch_(dispatch),
        bindings_(std::move(bindings)),
        key_(server.key),
        server_(std::move(server)),
        steps_(steps) {}

  store::Id dispatch() const { return dispatch_; }
  const std::string& key() const { return key_; }
  // Reference that candidates are compared with (store::VerificationRow::reference).
  const std::string& reference() const { return reference_; }
  // Sets the reference. `only`: verifications by another reference do not count.
  void verify_by(std::string_view reference, bool only = false) {
    reference_ = reference;
    only_this_reference_ = only;
  }
  // Sets a check of compiled code that runs before its row is written. The check returns what is
  // wrong with the code, or nothing.
  void check_code(
      std::function<std::optional<provider::Failure>(const provider::Artifact&)> check) {
    check_ = std::move(check);
  }

  // Applies the store's results to the trial, as far as they cover the requested steps.
  Status recall(Trial& trial);
  // Submits the trials that need a compile, which then runs in the background. Fails if the
  // compiler refuses the dispatch.
  Status begin(const Trials& trials);
  // Takes the server, for a caller that prepares several concurrently. begin() then takes it as
  // prepared.
  DispatchToPrepare take_server();
  // Waits until each trial has its code or its failure, at most `patience` seconds (negative: no
  // limit). A trial that still compiles then stays kCompiling until a later call finds it compiled.
  Status finish_compiling(const Trials& trials, double patience);
  // Whether submitted candidates still compile. wait_for_compiles() waits at most `seconds`
  // (negative: no limit) until some finish, and returns how many.
  bool is_compiling() const { return !compiling_.empty(); }
  bool is_compiling(store::Id candidate) const;
  Result<std::size_t> wait_for_compiles(double seconds);
  // Mean wall time of the compiles that have finished here; 0 before the first.
  double seconds_per_compile() const {
    return compiles_ == 0 ? 0 : compile_seconds_ / static_cast<double>(compiles_);
  }
  // Records a finished compile that was submitted here; false if it was not.
  Result<bool> take_compiled(const CompiledCandidate& finished);
  // Cancels the running compiles; their candidates remain untried.
  Status cancel_compiles();

  // Work on a trial that only one tuner does: compiling its configuration, measuring its code.
  enum class Work { kCompile, kMeasure };
  // True if this tuner must do the work: nobody else does or has done it.
  Result<bool> claim(Trial& trial, Work work);
  // False, and the trial is another tuner's, if that one took over because this tuner was silent.
  Result<bool> still_claims(Trial& trial, Work work);
  Status give_back(const Trial& trial, Work work);
  // Verifies the kernel and records the verdict. If it is wrong, it records which of the suspicions
  // explains it, and unloads the kernel.
  Status verify(KernelRunner& runner, Trial& trial, RunnerKernel& kernel);

  Result<provider::Artifact> artifact(store::Id candidate);
  Status record_verification(const std::string& identity,
                             const measure::Verification& verification);
  // `ratio`: to the default's time in the same rounds.
  Status record_samples(const std::string& identity, const measure::HandleSamples& samples,
                        store::Phase phase, std::optional<double> ratio,
                        const measure::MeasureResult& result);
  // Fails the trial and records the failure, after `seconds`; on the device if its code is known.
  Status fail(Trial& trial, const provider::Failure& failure, double seconds = 0);

 private:
  Status prepare_server(const Trials& trials);
  std::string key_of(const Trial& trial, Work work) const;

  Services services_;
  store::Id dispatch_ = 0;
  std::vector<problem::Binding> bindings_;
  std::string key_;                          // of the server
  std::optional<DispatchToPrepare> server_;  // until it is prepared
  Steps steps_;
  std::string reference_;
  bool only_this_reference_ = false;
  std::function<std::optional<provider::Failure>(const provider::Artifact&)> check_;
  std::map<worker::JobId, store::Id> compiling_;  // candidates
  std::map<store::Id, Trial> compiled_;           // what came of them, until a trial takes it
  std::size_t compiles_ = 0;                      // that have finished
  double compile_seconds_ = 0;                    // of them together
};

}  // namespace hone::trial
