// Kernels on a runner's device: the one place that loads, verifies and times them beside one
// another. A search, finalists, libraries, what ships and comparisons are protocols of it
// (protocols.h).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tune/services/runner_service.h"
#include "tune/services/time_budget.h"

namespace hone::tune {

// Code that the runner is to run, or a kernel that a library has there.
struct RunnerKernel {
  std::optional<provider::Artifact> code;  // none: only its library can load it
  std::optional<int> handle = {};          // once it is loaded, in the runner `generation`
  std::uint64_t generation = 0;
};

// Calls of the runner by kernel. A kernel is loaded where it has to be, again in a runner that took
// a dead one's place. What an accident ended (provider::is_accident) is tried once more; any other
// failure is the kernel's own. For one thread.
class Rounds {
 public:
  // Runs a call of the runner, which is of this activity: for who counts time, or lets go of a
  // lock.
  using Around = std::function<void(Activity activity, const std::function<void()>& call)>;

  explicit Rounds(RunnerService& runner) : Rounds(runner, run_plainly) {}
  Rounds(RunnerService& runner, Around around) : runner_(&runner), around_(std::move(around)) {}

  Result<Ran<measure::Verification>> verify(RunnerKernel& kernel);
  // Launches it again, as often as there is time for, and compares each time.
  Result<Ran<measure::Repeated>> compare(RunnerKernel& kernel, int launches, double max_seconds);
  // RunnerService::accuracies, in the order of the kernels, and find_mistake.
  Result<Ran<RunnerService::Accuracies>> accuracies(const std::vector<RunnerKernel*>& kernels);
  Result<Ran<std::optional<std::size_t>>> find_mistake(
      RunnerKernel& kernel, const std::vector<provider::Suspicion>& suspicions);
  // Interleaved, as `how` says, whose handles are filled in: samples in the order of `kernels`, the
  // sentinel's last. A failure is that of one of them, and does not say of which.
  Result<Ran<measure::MeasureResult>> measure(const std::vector<RunnerKernel*>& kernels,
                                              RunnerKernel* sentinel, measure::MeasureRequest how);
  // So that it is loaded anew, elsewhere, when it runs next. Nothing for one that is not loaded.
  Status unload(RunnerKernel& kernel);

 private:
  static void run_plainly(Activity, const std::function<void()>& call) { call(); }
  template <class T>
  Result<Ran<T>> ask(Activity activity, const std::function<Result<Ran<T>>()>& call);
  template <class T>
  Result<Ran<T>> with(const std::vector<RunnerKernel*>& kernels, Activity activity,
                      const std::function<Result<Ran<T>>()>& call);
  bool is_loaded(const RunnerKernel& kernel) const;
  // The failure of the first that does not load.
  Result<std::optional<provider::Failure>> load(const std::vector<RunnerKernel*>& kernels);
  Result<std::optional<provider::Failure>> load(RunnerKernel& kernel);

  RunnerService* runner_;
  Around around_;
};

// The samples of rounds that several codes shared, the default's last.
class RoundSamples {
 public:
  explicit RoundSamples(std::vector<std::string> identities);
  // One round, in which only these columns took part, ascending, the default's last. A failure when
  // one gave no sample.
  Status add(const measure::MeasureResult& round, const std::vector<std::size_t>& columns);
  Status add(const measure::MeasureResult& round);  // all of them

  const std::string& identity(std::size_t column) const { return identities_.at(column); }
  const measure::HandleSamples& samples(std::size_t column) const { return samples_.at(column); }
  // rounds()[r][c]: seconds per launch; NaN where the column took no part.
  const std::vector<std::vector<double>>& rounds() const { return rounds_; }
  // The median, over the rounds it took part in, of its time to the default's.
  double ratio(std::size_t column) const;
  const measure::MeasureResult& machine() const { return machine_; }  // before and after all rounds

 private:
  std::vector<std::string> identities_;
  std::vector<measure::HandleSamples> samples_;
  std::vector<std::vector<double>> rounds_;
  measure::MeasureResult machine_;
};

}  // namespace hone::tune
