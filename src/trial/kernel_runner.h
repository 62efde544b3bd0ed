// Kernels on a runner's device: loaded on demand, verified, and timed interleaved in rounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "trial/runner_service.h"
#include "trial/time_budget.h"

namespace hone::trial {

// Code that the runner runs, or a kernel of a library on the runner.
struct RunnerKernel {
  std::optional<provider::Artifact> code;  // none: only its library can load it
  std::optional<int> handle = {};          // once it is loaded, in the runner `generation`
  std::uint64_t generation = 0;
};

// Calls of the runner by kernel. Loads a kernel on demand, and again in a runner that replaces a
// dead one. provider/retry.h decides what is retried; any other failure is the kernel's own. For
// one thread.
class KernelRunner {
 public:
  // Wraps a call of the runner about `kernels` kernels that belongs to `activity`, to count its
  // time or to release a lock.
  using Around = std::function<void(Activity activity, std::size_t kernels,
                                    const std::function<void()>& call)>;

  explicit KernelRunner(RunnerService& runner) : KernelRunner(runner, run_plainly) {}
  KernelRunner(RunnerService& runner, Around around)
      : runner_(&runner), around_(std::move(around)) {}

  Result<KernelResult<measure::Verification>> verify(RunnerKernel& kernel);
  // Launches the kernel repeatedly within the time limit and compares the result each time.
  Result<KernelResult<measure::Repeated>> compare(RunnerKernel& kernel, int launches,
                                                  double max_seconds);
  // Returns the accuracy of each kernel's float outputs. Requires a problem whose dispatch has a
  // statement.
  Result<KernelResult<measure::Accuracies>> accuracies(const std::vector<RunnerKernel*>& kernels);
  // Returns the suspicion that explains the kernel's output; empty if none does, or the kernel
  // fails meanwhile.
  Result<std::string> find_mistake(RunnerKernel& kernel,
                                   const std::vector<provider::Suspicion>& suspicions);
  // Times the kernels interleaved, as `how` says, and fills in its handles. Samples are in the
  // order of `kernels`, the sentinel's last. A failure is that of an unknown one of them.
  Result<KernelResult<measure::MeasureResult>> measure(const std::vector<RunnerKernel*>& kernels,
                                                       RunnerKernel* sentinel,
                                                       measure::MeasureRequest how);
  // Unloads the kernel, so that its next run loads it anew, elsewhere in memory. Does nothing if it
  // is not loaded.
  Status unload(RunnerKernel& kernel);

 private:
  static void run_plainly(Activity, std::size_t, const std::function<void()>& call) { call(); }
  template <class Call>
  std::invoke_result_t<Call> ask(Activity activity, std::size_t kernels, const Call& call);
  template <class Call>
  std::invoke_result_t<Call> with(const std::vector<RunnerKernel*>& kernels, Activity activity,
                                  const Call& call);
  bool is_loaded(const RunnerKernel& kernel) const;
  // Loads the kernels; returns the failure of the first that does not load.
  Result<std::optional<provider::Failure>> load(const std::vector<RunnerKernel*>& kernels);
  Result<std::optional<provider::Failure>> load(RunnerKernel& kernel);

  RunnerService* runner_;
  Around around_;
};

// The kernel that ended the rounds. No column: no kernel with code fails alone.
struct FailedColumn {
  std::optional<std::size_t> column;
  provider::Failure failure;
};

using Columns = std::vector<std::size_t>;

// Rounds in which kernels are timed interleaved. One loop serves search, finalists, libraries,
// shipped forms, comparisons and profiles, each with a protocol of its own (protocols.h).
struct RoundsRequest {
  std::vector<RunnerKernel*> kernels;  // the columns
  RunnerKernel* sentinel = nullptr;    // timed around them, its samples last; no column
  measure::MeasureRequest how;         // of the first round; each further one has the next seed
  // Reloads the kernels in each round, elsewhere in memory. A kernel without code stays where it
  // is.
  bool reload = false;
  // Returns the columns of the next round, in their order within it; none: there is no further
  // round.
  std::function<Result<Columns>()> next;
  // Takes and records the result of a round, whose samples are in the order of its columns. Returns
  // false if it was the last.
  std::function<Result<bool>(const Columns& columns, const measure::MeasureResult& measured)> take;
};

// Makes a RoundsRequest::next that gives `rounds` rounds of all `columns` columns.
std::function<Result<Columns>()> fixed_rounds(int rounds, std::size_t columns);

// Runs rounds until there are no more. If a round fails, each of its kernels with code runs alone,
// to find the one that failed. Errors: those of KernelRunner::measure and of the request's
// functions.
Result<std::optional<FailedColumn>> run_rounds(KernelRunner& runner, RoundsRequest request);

// Samples of rounds in which several codes were timed; the default's are last.
class RoundSamples {
 public:
  explicit RoundSamples(std::vector<std::string> identities);
  // Adds a round in which only these columns took part, ascending, the default's last. Fails if one
  // gave no sample.
  Status add(const measure::MeasureResult& round, const std::vector<std::size_t>& columns);
  Status add(const measure::MeasureResult& round);  // all of them

  const std::string& identity(std::size_t column) const { return identities_.at(column); }
  const measure::HandleSamples& samples(std::size_t column) const { return samples_.at(column); }
  // rounds()[r][c]: seconds per launch; NaN where the column took no part.
  const std::vector<std::vector<double>>& rounds() const { return rounds_; }
  // Median ratio of the column's time to the default's, over the rounds in which it took part.
  double ratio(std::size_t column) const;
  const measure::MeasureResult& machine() const { return machine_; }  // before and after all rounds

 private:
  std::vector<std::string> identities_;
  std::vector<measure::HandleSamples> samples_;
  std::vector<std::vector<double>> rounds_;
  measure::MeasureResult machine_;
};

}  // namespace hone::trial
