// Decides which finalists cannot be told from the best, from interleaved samples, rounds x
// candidates.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "measure/statistics.h"

namespace hone::measure {

struct TieOptions {
  // The truly fastest candidate is left out of the tie set with at most this probability.
  double alpha = 0.05;
  // A candidate slower by up to this share is a tie even when that is certain, as a comparison
  // calls it no different (comparison.h): a deterministic choice among such is worth more than the
  // share.
  double threshold = 0.005;
  // Candidates whose times are known to lie within this share of the best need no more samples.
  double band = 0.01;
  // alpha is shared by this many candidates less one; 0: as many as the rounds have.
  std::size_t among = 0;
};

class TieSet {
 public:
  // Candidate indices, ascending: those not found slower than any other.
  const std::vector<std::size_t>& members() const { return members_; }
  bool contains(std::size_t candidate) const;
  // The fastest by estimate; it is a member.
  std::size_t best() const { return best_; }
  // Time of each candidate / time of best(): Hodges-Lehmann estimates.
  const std::vector<double>& ratios() const { return ratios_; }
  // Intervals of these ratios at confidence 1 - alpha / (k - 1).
  const std::vector<Interval>& intervals() const { return intervals_; }
  // Whether a single member is left: sampling may stop.
  bool separated() const { return members_.size() == 1; }
  // Sampling may stop because it is separated, or because every member is known to lie within
  // `band` of the best: a tie.
  bool settled() const { return settled_; }

 private:
  friend Result<TieSet> find_ties(std::span<const std::vector<double>>, const TieOptions&);
  std::vector<std::size_t> members_;
  std::size_t best_ = 0;
  std::vector<double> ratios_;
  std::vector<Interval> intervals_;
  bool settled_ = false;
};

// rounds[r][c] is the time of candidate c in round r, all candidates in random order in each round.
// A candidate is dropped if it is slower than some other one by more than the threshold. The test
// is the one-sided signed-rank test on its log ratios, at alpha / (k - 1). To be dropped, the
// fastest would have to lose one of k - 1 tests. So by Bonferroni it stays with probability 1 -
// alpha, without knowing which one it is: multiple comparisons with the best (Hsu, Multiple
// Comparisons, 1996, chapter 4; Gupta 1965). Too few rounds drop nobody: fewest_rounds_to_tell().
// Each round counts for itself, since its order is drawn: two equal candidates are as likely to
// have either time, whatever correlates from round to round (comparison.h). Input error if there is
// no candidate, rows differ in length, or a time is not positive and finite.
Result<TieSet> find_ties(std::span<const std::vector<double>> rounds,
                         const TieOptions& options = {});

// Fewest rounds after which a candidate can be dropped. All of n rounds agree by chance with
// probability 2^-n, which must not be above alpha / (candidates - 1).
std::size_t fewest_rounds_to_tell(std::size_t candidates, double alpha);

}  // namespace hone::measure
