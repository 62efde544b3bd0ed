// Samples of kernels that were timed in the same rounds, paired by round. What the machine does to
// a whole round cancels in the ratio of two of its samples.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "measure/runner_requests.h"

namespace hone::measure {

// Median ratio of the times of `samples` to those of `baseline` in the same rounds. Nothing if they
// share no round.
std::optional<double> paired_ratio(const HandleSamples& samples, const HandleSamples& baseline);

// Relative standard error of paired_ratio(): 1.253 (for a median) x 1.483 (for a median absolute
// deviation of normal noise) x that deviation of the ratios / sqrt(n). Nothing for fewer than three
// rounds.
std::optional<double> ratio_noise(const HandleSamples& samples, const HandleSamples& baseline);

// result[r][c]: the sample of the c-th handle in the r-th round in which every handle has one.
// Other rounds cannot be compared in pairs.
std::vector<std::vector<double>> paired_rounds(const MeasureResult& result);

// Samples of rounds in which several codes were timed; the default's are last.
class RoundSamples {
 public:
  explicit RoundSamples(std::vector<std::string> identities);
  // Adds a round in which only these columns took part, ascending, the default's last. Fails if one
  // gave no sample.
  Status add(const MeasureResult& round, const std::vector<std::size_t>& columns);
  Status add(const MeasureResult& round);  // all of them

  const std::string& identity(std::size_t column) const { return identities_.at(column); }
  const HandleSamples& samples(std::size_t column) const { return samples_.at(column); }
  // rounds()[r][c]: seconds per launch; NaN where the column took no part.
  const std::vector<std::vector<double>>& rounds() const { return rounds_; }
  // Median ratio of the column's time to the default's, over the rounds in which it took part.
  double ratio(std::size_t column) const;
  const MeasureResult& machine() const { return machine_; }  // before and after all rounds

 private:
  std::vector<std::string> identities_;
  std::vector<HandleSamples> samples_;
  std::vector<std::vector<double>> rounds_;
  MeasureResult machine_;
};

}  // namespace hone::measure
