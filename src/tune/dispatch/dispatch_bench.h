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

#include "trial/trial_runner.h"
#include "tune/services/context.h"

namespace hone::tune {

using trial::Trial;
using trial::Trials;

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
  Status run(const Trials& trials);
  // run() in two steps: trials().begin() hands in what is to be compiled, which then goes on while
  // other trials are measured. finish() waits at most `patience` seconds (negative: without limit)
  // for compiles; what is pending then a later run() or finish() takes to its end.
  Status finish(const Trials& trials, double patience = -1);
  trial::TrialRunner& trials() { return trials_; }
  const trial::TrialRunner& trials() const { return trials_; }

  // Says that two of the devices differ by more than their noise; empty where they do not, or there
  // is but one.
  std::string differing_devices() const;

  store::Id dispatch_id() const { return trials_.dispatch(); }
  store::Id default_candidate() const { return default_.candidate; }
  double default_seconds() const { return default_seconds_; }  // per launch, when first measured
  // What the compiler's own choice computes instead of what it must; empty where it is right.
  const std::string& default_is_wrong() const { return default_is_wrong_; }
  // A failure that says so where it is wrong.
  Status check_default() const;
  const std::string& key() const { return trials_.key(); }
  // What candidates are compared with (store::VerificationRow), once set_up() is through.
  const std::string& reference() const { return trials_.reference(); }
  const std::string& name() const { return name_; }
  // MeasureRequest::least_seconds of all that this dispatch's kernels are measured by.
  double least_seconds() const { return least_seconds_; }
  // measure::seconds_at_peak of the dispatch's root; 0 where nothing bounds it.
  double seconds_at_peak() const;
  // What is wrong with samples that stayed shorter than that: empty where none is, or where the
  // device's peak, which `runner` measures once more, allows them.
  Result<std::string> impossible_time(trial::RunnerService& runner,
                                      const measure::HandleSamples& samples);
  Result<provider::Artifact> artifact(store::Id candidate) { return trials_.artifact(candidate); }
  // Records that a candidate failed on the device.
  Status fail(store::Id candidate, const provider::Failure& failure);
  // Those of the first `columns` codes of rounds that they shared with the default, as finalists.
  Status record_rounds(const trial::RoundSamples& samples, std::size_t columns);
  // Those of rounds as they ship, in which the default and a candidate ran beside one another:
  // seconds of a launch, by round.
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
  // Trials that wait to be measured, each code once.
  struct Queue {
    const Trials& trials;
    std::size_t next = 0;
    std::set<std::string> begun = {}, leased_by_other = {};  // identities
    bool stopped = false;                                    // a lane has an error
  };
  // Holds the bench alone, but while it waits for the lane's runner: lanes work side by side and
  // share the store and everything else.
  using Lock = std::unique_lock<std::mutex>;
  // The lane's runner; while it works, the other lanes go on.
  trial::KernelRunner runner_on(Lane& lane, Lock& lock);

  static Result<DispatchBench> open(Context& context, const problem::Dispatch& dispatch);
  static Result<std::deque<DispatchBench>> unknown_of(
      Context& context, std::span<const problem::Dispatch* const> dispatches);
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
  // One round of them all beside the default, but for that of the default itself. `first`: of those
  // that were to be measured together.
  Result<std::optional<trial::FailedColumn>> time(Lane& lane, trial::KernelRunner& runner,
                                                  Kernels& kernels, const Trial& first);
  // Fails the trials that were measured to be faster than their device can be; a failure where the
  // default was.
  Status fail_impossible(Lane& lane, const Kernels& kernels,
                         const measure::MeasureResult& measured);
  // Records what was measured of them.
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
