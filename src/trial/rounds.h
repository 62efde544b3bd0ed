// Rounds in which kernels are timed interleaved. One loop serves search, finalists, libraries,
// shipped forms, comparisons and profiles, each with a protocol of its own (protocols.h).
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "trial/kernel_runner.h"

namespace hone::trial {

// The kernel that ended the rounds. No column: no kernel with code fails alone.
struct FailedColumn {
  std::optional<std::size_t> column;
  provider::Failure failure;
};

using Columns = std::vector<std::size_t>;

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
