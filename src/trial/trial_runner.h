// The way of a dispatch's trials: what the store knows is taken, the rest is leased, compiled,
// verified and measured, and each step's result is in the store when it ends.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/stopwatch.h"
#include "problem/dispatch.h"
#include "trial/lease_keeper.h"
#include "trial/rounds.h"
#include "trial/trial.h"

namespace hone::trial {

// What the trials of a session have in common. References outlive their runners.
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

// What is asked of trials behind their compile.
struct Steps {
  bool verify = true, measure = true;
  // Beside the dispatch's default: what is known has a ratio, and its code where it may win.
  bool beside_default = true;
};

// For one thread.
class TrialRunner {
 public:
  // `server`: compiles the dispatch's candidates, and is prepared when the first of them is to be
  // compiled.
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
  // What candidates are compared with (store::VerificationRow::reference).
  const std::string& reference() const { return reference_; }
  // `only`: what was verified by another one is not known.
  void verify_by(std::string_view reference, bool only = false) {
    reference_ = reference;
    only_this_reference_ = only;
  }
  // Says what is wrong with code before its row is written; nothing where it is what was meant.
  void check_code(
      std::function<std::optional<provider::Failure>(const provider::Artifact&)> check) {
    check_ = std::move(check);
  }

  // Takes what the store knows: it is as far as that says, by the steps that are asked.
  Status recall(Trial& trial);
  // Hands in what is to be compiled, which then goes on beside what follows. Fails where the
  // compiler does not take the dispatch.
  Status begin(const Trials& trials);
  // The server, for who prepares several side by side; begin() takes it as prepared then.
  DispatchToPrepare take_server();
  // Waits until each has its code or its failure, at most `patience` seconds (negative: without
  // limit). One that still compiles then stays kCompiling until a later call finds it compiled.
  Status finish_compiling(const Trials& trials, double patience);
  // Whether something that was handed in still compiles; waits until some of it has, at most
  // `seconds` (negative: without limit), and says how much.
  bool is_compiling() const { return !compiling_.empty(); }
  bool is_compiling(store::Id candidate) const;
  Result<std::size_t> wait_for_compiles(double seconds);
  // Whether it was handed in here; what came of it is in the store then.
  Result<bool> take_compiled(const CompiledCandidate& finished);
  // Ends what still compiles; its candidates remain untried.
  Status cancel_compiles();

  // True when this tuner is to measure its code: nobody else is at it or has done it.
  Result<bool> claim_code(Trial& trial);
  // False, and the trial is another's, when that one took over because this tuner was silent.
  Result<bool> still_claims_code(Trial& trial);
  Status give_code_back(const Trial& trial);
  // Records whether it is right, and what it did instead where that is one of its suspicions. One
  // that is not is unloaded.
  Status verify(KernelRunner& runner, Trial& trial, RunnerKernel& kernel);

  Result<provider::Artifact> artifact(store::Id candidate);
  Status record_verification(const std::string& identity,
                             const measure::Verification& verification);
  // `ratio`: to the default's time in the same rounds.
  Status record_samples(const std::string& identity, const measure::HandleSamples& samples,
                        store::Phase phase, std::optional<double> ratio,
                        const measure::MeasureResult& result);
  // Fails it, and records that, after so many seconds; on the device where its code is known.
  Status fail(Trial& trial, const provider::Failure& failure, double seconds = 0);

 private:
  Status serve(const Trials& trials);
  // True when this tuner is to do the work named by `key`.
  Result<bool> claim(Trial& trial, const std::string& key);
  Result<bool> still_claims(Trial& trial, const std::string& key);
  Status give_back(const std::string& key);
  std::string code_key(const Trial& trial) const;
  Result<bool> may_be_loaded(store::Id candidate, const store::Artifact& artifact);
  Status record_code(Trial& trial, CompiledCandidate finished);

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
};

}  // namespace hone::trial
