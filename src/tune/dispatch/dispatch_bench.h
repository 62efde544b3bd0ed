// Bench of one dispatch: its default configuration is the sentinel, and candidates are compiled,
// verified and measured beside it. Each step writes its result to the store when it ends. Results
// in the store are reused.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "measure/paired_samples.h"
#include "trial/trial_runner.h"
#include "tune/services/context.h"

namespace hone::tune {

using trial::Trial;
using trial::Trials;

// Returns the problem with the reference that kernels are verified by. Where hone does not compute
// it itself, that is the compiled `reference`: the same dispatch from an independent compile. A
// failure where the dispatch cannot be verified.
Result<measure::ProblemRequest> problem_of(Context& context, const problem::Dispatch& dispatch,
                                           const problem::Dispatch* reference);

// Has the runners prefetch one of the next problems while they work on the present one.
Status expect_problem(Context& context, const measure::ProblemRequest& next);

// A dispatch and the same one of an independent compile, null if there is none.
struct Referenced {
  const problem::Dispatch* dispatch = nullptr;
  const problem::Dispatch* reference = nullptr;
};
// Compiles references in parallel, so that problem_of() need not wait: of the first
// Options::compile_ahead of the dispatches, those that this session does not know. A compile that
// fails is left to problem_of().
Status compile_references(Context& context, std::span<const Referenced> dispatches);

// Keeps the code of a dispatch's reference for this session, so that it is not compiled.
// `reference`: as for problem_of().
void keep_reference(Context& context, const problem::Dispatch& dispatch,
                    const problem::Dispatch* reference, provider::Artifact code);

class DispatchBench;

// Compiles the defaults of dispatches that are measured one after the other, several side by side,
// and writes the results to the store, so that their benches need not wait. Where compiling does
// not disturb, the next ones compile while those before them are measured.
class DefaultsAhead {
 public:
  // References outlive it.
  DefaultsAhead(Context& context, std::span<const problem::Dispatch* const> dispatches);
  ~DefaultsAhead();
  DefaultsAhead(const DefaultsAhead&) = delete;
  DefaultsAhead& operator=(const DefaultsAhead&) = delete;

  // Waits until the default of the dispatch at `place` is compiled, as far as the compiler takes
  // it. Call it with 0, 1 and so on. A compile that does not end within about `seconds` (negative:
  // without limit) is stopped and left to its bench.
  Status reach(std::size_t place, double seconds);
  // Stops what still compiles. Call it at the end.
  Status end() { return finish(0); }

 private:
  // Begins the first Options::compile_ahead dispatches from `place` on that the store does not
  // know.
  Status begin(std::size_t place);
  Status finish(double seconds);

  Context& context_;
  std::span<const problem::Dispatch* const> dispatches_;
  std::size_t begun_ = 0;  // dispatches
  std::deque<DispatchBench> compiling_;
};

class DispatchBench {
 public:
  // Prepares to compile the dispatch's candidates. begin() may be called then, and fails where the
  // compiler rejects the dispatch. A failure where the dispatch cannot be verified. `reference`:
  // source and flags of an independent compile of the same dispatch.
  static Result<DispatchBench> prepare(Context& context, const problem::Dispatch& dispatch,
                                       const problem::Dispatch* reference);
  // Prepares only to time the default.
  static Result<DispatchBench> prepare_to_time(Context& context, const problem::Dispatch& dispatch);
  // A candidate of this dispatch, not yet stored: knobs and values as JSON.
  store::CandidateRow candidate_row(std::string configuration) const;
  // Starts the compile of the default, for callers that want it before others. Where compiling does
  // not disturb, set_up() does it before it makes the problem.
  Status compile_default();
  // Gives the runners the problem; compiles, verifies and measures the default. A failure, with the
  // reason, if the default does not compile or run: there is then nothing to compare with.
  // In a program a wrong default is measured all the same and added to
  // SessionState::wrong_by_default: a correct kernel is then worth finding.
  Status set_up();

  // Finds default_seconds() for a plan: from the store, else measured. The time is not recorded,
  // since without a reference the default is not verified. Errors as set_up().
  Status time_default();

  // Takes each trial to its end, except those that another tuner on the store works on. Trials of
  // equal code share one measurement.
  Status run(const Trials& trials);
  // Does the same, and waits for the results of another tuner.
  Status run_to_the_end(const Trials& trials);
  // Second half of run(). trials().begin() starts the compiles, which go on while other trials are
  // measured. finish() waits at most `patience` seconds (negative: without limit) for compiles. A
  // later run() or finish() takes pending trials to their end.
  Status finish(const Trials& trials, double patience = -1);
  trial::TrialRunner& trials() { return trials_; }
  const trial::TrialRunner& trials() const { return trials_; }

  // Returns a warning if two devices differ by more than their noise; empty if not, or for a single
  // device.
  std::string differing_devices() const;

  store::Id dispatch_id() const { return trials_.dispatch(); }
  store::Id default_candidate() const { return default_.candidate; }
  double default_seconds() const { return default_seconds_; }  // per launch, when first measured
  // Describes how the default is wrong; empty if it is correct.
  const std::string& default_is_wrong() const { return default_is_wrong_; }
  // Returns a failure with default_is_wrong() if the default is wrong.
  Status check_default() const;
  const std::string& key() const { return trials_.key(); }
  // Reference of the candidates (store::VerificationRow::reference); known after set_up().
  const std::string& reference() const { return trials_.reference(); }
  const std::string& name() const { return name_; }
  // MeasureRequest::least_seconds for all measurements of this dispatch.
  double least_seconds() const { return least_seconds_; }
  // measure::seconds_at_peak of the dispatch's root; 0 where nothing bounds it.
  double seconds_at_peak() const;
  // Explains samples that are shorter than least_seconds(). Empty if none is, or if the device's
  // peak, which `runner` measures once more, allows them.
  Result<std::string> impossible_time(trial::RunnerService& runner,
                                      const measure::HandleSamples& samples);
  Result<provider::Artifact> artifact(store::Id candidate) { return trials_.artifact(candidate); }
  // Records that a candidate failed on the device.
  Status fail(store::Id candidate, const provider::Failure& failure);
  // Records the first `columns` codes of rounds shared with the default, as finalists.
  Status record_rounds(const measure::RoundSamples& samples, std::size_t columns);
  // Records rounds of the default and a candidate in the form that ships: seconds of a launch, by
  // round.
  Status record_as_shipped(store::Id candidate, const std::vector<double>& default_seconds,
                           const std::vector<double>& seconds);

 private:
  DispatchBench(Context& context, const problem::Dispatch& dispatch, trial::TrialRunner trials)
      : context_(&context),
        name_(dispatch.name),
        root_(dispatch.root),
        trials_(std::move(trials)) {}

  // A device with its runner, and what is loaded there.
  struct Lane {
    trial::RunnerService* runner = nullptr;
    device::Address device = {};
    trial::RunnerKernel sentinel = {};          // the default, which stays loaded
    std::vector<double> sentinel_seconds = {};  // of each sample
  };
  // Queue of trials to measure, each code once.
  struct Queue {
    const Trials& trials;
    std::size_t next = 0;
    std::set<std::string> begun = {}, leased_by_other = {};  // identities
    bool stopped = false;                                    // a lane has an error
  };
  // Guards the bench, and is released while the lane's runner works. Lanes run in parallel and
  // share the store and everything else.
  using Lock = std::unique_lock<std::mutex>;

  static Result<DispatchBench> open(Context& context, const problem::Dispatch& dispatch);
  friend class DefaultsAhead;
  Result<std::optional<measure::MeasureResult>> time_unverified();
  Status go_on_with_wrong_default();
  tl::unexpected<Error> no_default(const provider::Failure& why) const;
  Status set_problem(const measure::ProblemRequest& problem);
  Status say_no_reference();
  Status run_default();
  Status learn_least_seconds();
  Status measure(const Trials& trials);
  Status work(Lane& lane, Queue& queue);
  Result<Trials> next_group(Queue& queue);
  Status measure_together(Lane& lane, Lock& lock, const Trials& trials);
  using Kernels = std::map<Trial*, trial::RunnerKernel>;
  // Times all kernels in one round beside the default; the default itself is timed alone. `first`:
  // the first of the trials that were to be measured together.
  Result<std::optional<trial::FailedColumn>> time(Lane& lane, trial::KernelRunner& runner,
                                                  Kernels& kernels, const Trial& first);
  // Fails trials measured faster than their device can be; a failure if the default was.
  Status fail_impossible(Lane& lane, const Kernels& kernels,
                         const measure::MeasureResult& measured);
  // Records the measurements of the kernels.
  Status take_measured(Lane& lane, const Kernels& kernels, const measure::MeasureResult& measured);

  Context* context_;
  std::string name_;
  problem::Operation root_;
  trial::TrialRunner trials_;
  double least_seconds_ = 0;
  std::optional<measure::ProblemRequest> problem_;  // until the runners have it
  Trial default_;
  std::string default_is_wrong_;
  std::deque<Lane> lanes_;
  std::unique_ptr<std::mutex> mutex_ = std::make_unique<std::mutex>();
  std::optional<double> best_seconds_;
  double default_seconds_ = 0;
};

}  // namespace hone::tune
