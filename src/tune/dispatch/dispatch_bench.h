// One dispatch on the bench: its default configuration as sentinel, and candidates that are
// compiled, verified and measured beside it. Every step's result is in the store when it ends, and
// what the store knows is not done again.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "tune/services/context.h"
#include "tune/services/rounds.h"

namespace hone::tune {

// A candidate on its way.
struct Trial {
  store::Id candidate = 0;
  std::optional<provider::Payload> payload;  // none: the compiler's own choice
  std::string identity;                      // of its code, once compiled
  std::optional<provider::Failure> failure;
  std::optional<double> ratio;  // its time / the default's at the same time
  double seconds = 0;           // of a launch, where there is a ratio
  std::optional<double> noise;  // of a ratio measured here: its standard error, as a share
  bool known = false;           // the store had the result
  bool anew = false;            // a failure that the store knows does not count
  bool elsewhere = false;       // another tuner on the store is at it: look again later
  // Asked for where it is wrong: what it may have done instead.
  std::function<std::vector<provider::Suspicion>()> suspicions = {};

  bool done() const { return failure.has_value() || ratio.has_value(); }
};

// What kernels of the dispatch are verified by: where hone does not compute it itself, its
// `reference` (the same dispatch as an independent compile has it), compiled. A failure where it
// cannot be verified.
Result<measure::ProblemRequest> problem_of(Context& context, const problem::Dispatch& dispatch,
                                           const problem::Dispatch* reference);

class DispatchBench {
 public:
  // Makes ready to compile the dispatch's candidates; begin() may be called then, and fails where
  // the compiler does not take the dispatch. A failure where it cannot be verified. `reference`:
  // source and flags of an independent compile of the same dispatch.
  static Result<DispatchBench> prepare(Context& context, const problem::Dispatch& dispatch,
                                       const problem::Dispatch* reference);
  // Makes ready to time the default, and nothing else.
  static Result<DispatchBench> prepare_to_time(Context& context, const problem::Dispatch& dispatch);
  // Compiles, side by side, the defaults of the first Options::compile_ahead of the dispatches that
  // the store does not know, and writes there what comes of them: benches that are used one after
  // the other then wait for none. What does not end within about so many seconds (negative:
  // without limit) is ended, and left to its bench.
  static Status compile_defaults(Context& context,
                                 std::span<const problem::Dispatch* const> dispatches,
                                 double seconds);
  // A candidate of this dispatch, not yet stored: knobs and values as JSON.
  store::Candidate candidate_row(std::string configuration) const;
  // Hands in the default configuration, for who wants it compiled before others: where compiling
  // does not disturb, set_up() does so itself before it makes the problem.
  Status compile_default();
  // Gives the runners the problem; compiles, verifies and measures the default configuration. A
  // failure with the reason when the compiler's own choice does not compile or run: then there is
  // nothing to compare with. In a program one that computes something else is measured all the
  // same, and named in Context::wrong_by_default: a kernel that is right is worth finding then.
  Status set_up();

  // default_seconds() for a plan, of a bench that is made ready for it: what the store knows, else
  // measured, and not recorded, since without a reference it is not verified. Errors as set_up().
  Status time_default();
  // Has the runners make ready what will be asked of them next, while they do what they are asked.
  Status expect(const measure::ProblemRequest& next);

  // Takes each trial to its end, but for those that another tuner on the store is at. Trials of
  // equal code share one measurement.
  Status run(std::vector<Trial>& trials);
  // run() in two steps: begin() hands in what is to be compiled, which then goes on while other
  // trials are measured. finish() waits at most `patience` seconds (negative: without limit) for
  // compiles; a trial that still compiles then is `elsewhere`, as another tuner's is, until a later
  // run() or finish() finds it compiled.
  Status begin(std::vector<Trial>& trials);
  Status finish(std::vector<Trial>& trials, double patience = -1);
  // Whether something that was handed in still compiles; waits until one of it has, at most
  // `seconds`.
  bool is_compiling() const { return !compiling_.empty(); }
  bool is_compiling(store::Id candidate) const;
  Status wait_for_a_compile(double seconds);
  // Ends what still compiles; its candidates remain untried.
  Status cancel_compiles();

  // Says that two of the devices differ by more than their noise; empty where they do not, or there
  // is but one.
  std::string differing_devices() const;

  store::Id dispatch_id() const { return dispatch_id_; }
  store::Id default_candidate() const { return default_.candidate; }
  double default_seconds() const { return default_seconds_; }  // per launch, when first measured
  // What the compiler's own choice computes instead of what it must; empty where it is right.
  const std::string& default_is_wrong() const { return default_is_wrong_; }
  // A failure that says so where it is wrong.
  Status check_default() const;
  const std::string& key() const { return key_; }
  // What candidates are compared with (store::VerificationRow), once set_up() is through.
  const std::string& reference() const { return reference_; }
  const std::string& name() const { return name_; }
  // MeasureRequest::least_seconds of all that this dispatch's kernels are measured by.
  double least_seconds() const { return least_seconds_; }
  // measure::seconds_at_peak of the dispatch's root; 0 where nothing bounds it.
  double seconds_at_peak() const;
  // What is wrong with samples that stayed shorter than that: empty where none is, or where the
  // device's peak, which `runner` measures once more, allows them.
  Result<std::string> impossible_time(RunnerService& runner, const measure::HandleSamples& samples);
  Result<provider::Artifact> artifact(store::Id candidate);
  // Records that a candidate failed on the device.
  Status fail(store::Id candidate, const provider::Failure& failure);
  // Records what a verification of the code `identity` said.
  Status record_verification(const std::string& identity,
                             const measure::Verification& verification);
  // Writes the samples of the code `identity` into the store; `ratio`: to the default's.
  Status record_samples(const std::string& identity, const measure::HandleSamples& samples,
                        store::Phase phase, std::optional<double> ratio,
                        const measure::MeasureResult& result);
  // Those of the first `columns` codes of rounds that they shared with the default, as finalists.
  Status record_rounds(const RoundSamples& samples, std::size_t columns);

 private:
  DispatchBench(Context& context, const problem::Dispatch& dispatch)
      : context_(&context),
        name_(dispatch.name),
        bindings_(dispatch.bindings),
        root_(dispatch.root) {}

  // A device with its runner, and what is loaded there.
  struct Lane {
    RunnerService* runner = nullptr;
    device::Address device = {};
    RunnerKernel sentinel = {};                 // the default, which stays loaded
    std::vector<double> sentinel_seconds = {};  // of each sample
  };
  // Trials that wait to be measured, each code once.
  struct Queue {
    std::vector<Trial>& trials;
    std::size_t next = 0;
    std::set<std::string> begun = {}, elsewhere = {};  // identities
    bool stopped = false;                              // a lane has an error
  };
  // Holds the bench alone, but while it waits for the lane's runner: lanes work side by side and
  // share the store and everything else.
  using Lock = std::unique_lock<std::mutex>;
  // The lane's runner; while it works, the other lanes go on.
  Rounds rounds_on(Lane& lane, Lock& lock);

  static Result<DispatchBench> open(Context& context, const problem::Dispatch& dispatch);
  static Result<std::deque<DispatchBench>> unknown_of(
      Context& context, std::span<const problem::Dispatch* const> dispatches);
  Status serve(const std::vector<Trial*>& trials);
  Result<std::optional<measure::MeasureResult>> time_unverified();
  Status go_on_with_wrong_default();
  tl::unexpected<Error> no_default(const provider::Failure& why) const;
  Status set_problem(const measure::ProblemRequest& problem);
  Status say_no_reference();
  Result<bool> may_be_loaded(store::Id candidate, const store::Artifact& artifact);
  Status run_default();
  Status learn_least_seconds();
  Status wait_for_compiles(std::vector<Trial>& trials, double patience);
  // How many compiles ended; waits for the first one at most `seconds` (negative: without limit).
  Result<std::size_t> take_finished(double seconds);
  Status take_compiled(const CompiledCandidate& finished);
  Status measure(std::vector<Trial>& trials);
  Status skip_known(Trial& trial);
  // True when this tuner is to do the work named by `key`: nobody else is at it or has done it.
  Result<bool> claim(Trial& trial, const std::string& key);
  // False, and the trial is another's, when that one took over because this tuner was silent.
  Result<bool> still_claims(Trial& trial, const std::string& key);
  Status give_back(const std::string& key);
  std::string measure_key_of(const Trial& trial) const;
  Status work(Lane& lane, Queue& queue);
  Result<std::vector<Trial*>> next_group(Queue& queue);
  // Records what came of it; a trial that is right is not done then.
  Status verify(Rounds& rounds, Trial& trial, RunnerKernel& kernel);
  // Adds to `message` what the wrong kernel did, where that is one of the suspicions.
  static Status explain(Rounds& rounds, const std::vector<provider::Suspicion>& suspicions,
                        RunnerKernel& kernel, std::string& message);
  Status measure_together(Lane& lane, Lock& lock, const std::vector<Trial*>& trials);
  // Fails the trials that were measured to be faster than their device can be; a failure where the
  // default was.
  using Kernels = std::map<Trial*, RunnerKernel>;
  Status fail_impossible(Lane& lane, const Kernels& kernels,
                         const measure::MeasureResult& measured);
  // Records what was measured of them.
  Status take_measured(Lane& lane, const Kernels& kernels, const measure::MeasureResult& measured);
  Status fail(Trial& trial, const provider::Failure& failure, bool on_device, double seconds);

  Context* context_;
  std::string name_;
  std::vector<problem::Binding> bindings_;
  problem::Operation root_;
  double least_seconds_ = 0;
  std::optional<measure::ProblemRequest> problem_;  // until the runners have it
  std::string reference_;                           // store::VerificationRow::reference
  std::string key_;                                 // of its server
  std::optional<DispatchToPrepare> server_;         // until it is prepared
  std::map<worker::JobId, store::Id> compiling_;    // candidates
  std::map<store::Id, Trial> compiled_;             // what came of them, until a trial takes it
  worker::JobId last_job_ = 0;
  store::Id dispatch_id_ = 0;
  Trial default_;
  std::string default_is_wrong_;
  std::deque<Lane> lanes_;
  std::unique_ptr<std::mutex> mutex_ = std::make_unique<std::mutex>();
  std::optional<double> best_seconds_;
  double default_seconds_ = 0;
};

}  // namespace hone::tune
