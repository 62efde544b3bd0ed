// Rounds in which kernels are timed beside one another: the one loop for a search, finalists,
// libraries, what ships, comparisons and profiles, each by a protocol of its own (protocols.h).
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "trial/kernel_runner.h"

namespace hone::trial {

// The kernel that ended rounds; no column where each runs alone, and they fail together.
struct FailedColumn {
  std::optional<std::size_t> column;
  provider::Failure failure;
};

using Columns = std::vector<std::size_t>;

struct RoundsRequest {
  std::vector<RunnerKernel*> kernels;  // the columns
  RunnerKernel* sentinel = nullptr;    // timed around them, its samples last; no column
  measure::MeasureRequest how;         // of the first round; each further one has the next seed
  // Each round loads its kernels anew, elsewhere in memory; one without code stays where it is.
  bool reload = false;
  // The columns of the next round, in their order within it; none: there is no further round.
  std::function<Result<Columns>()> next;
  // Takes, and records, what a round gave, samples in the order of its columns. False: it is the
  // last.
  std::function<Result<bool>(const Columns& columns, const measure::MeasureResult& measured)> take;
};

// `rounds` rounds of all of so many columns, for RoundsRequest::next.
std::function<Result<Columns>()> fixed_rounds(int rounds, std::size_t columns);

// Runs rounds until there are no more. Where one fails, each of its kernels alone shows whether it
// was that one. Errors: those of KernelRunner::measure and of the request's functions.
Result<std::optional<FailedColumn>> run_rounds(KernelRunner& runner, RoundsRequest request);

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

}  // namespace hone::trial
