// Runs finalists in rounds until a winner is known: which are tied with the best, which are
// dropped, when to look, when to end, which wins. Pure: told the times of each round, it knows no
// device and no clock.
//
// After each look, finalists found slower than another one (find_ties) leave, so that the remaining
// time goes to those still tied. alpha is the error of the whole race. To be dropped, the truly
// fastest would have to lose one of k - 1 tests at one of the looks. Each test has alpha / (k - 1)
// / looks, k being the initial number of candidates. The first look comes once a drop is possible:
// after n rounds, where 2^-n is as small as a test's alpha.
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

struct RaceOptions {
  TieOptions ties = {};  // alpha: of the whole race; `among` is set by the race
  // Half-width of the interval of best / default, as a share, at which a settled race is over.
  double tight = 0.005;
  // Off: all run to the end, since each one's time against the default is wanted.
  bool drops = true;
};

// Why the winner won.
enum class Won {
  kSeparated,  // faster than every other
  kByName,     // of several within the band
  kByEstimate  // the fastest by estimate of several that were not told apart in the time
};

class Race {
 public:
  static constexpr std::size_t kMostRounds = 128;
  static constexpr std::size_t kLooks = 5;

  // A race of `candidates` (at least one) and the default, whose time is the last of each round.
  explicit Race(std::size_t candidates, const RaceOptions& options = {});

  // Candidates that take part in the next round, ascending.
  const std::vector<std::size_t>& running() const { return running_; }
  // Adds the times of a round in seconds: of running(), then the default's. Looks when a look is
  // due. An input error if their number is another, or a time is not positive and finite.
  Status add(const std::vector<double>& seconds);
  // Number of rounds before the first look.
  std::size_t fewest_rounds() const { return fewest_; }
  std::size_t rounds() const { return rounds_.size(); }
  // Whether more rounds would add nothing, or kMostRounds are taken.
  bool is_over() const { return over_; }
  // Ends the race when time is up: looks once more if rounds have come since the last look, in
  // place of the next one.
  Status end();
  // Narrows the race if there is no time even for the first look: only the fastest by estimate goes
  // on, so that it can be compared with the default.
  Status narrow();

  // Candidates not found slower than any other, ascending; includes those that narrow() took out.
  const std::vector<std::size_t>& tied() const { return tied_; }
  // Result of the last look, whose indices are those within running() at that time.
  const TieSet& ties() const { return ties_; }
  // Times of a candidate, and of the default, in the rounds that the candidate took part in.
  std::vector<double> times(std::size_t candidate) const;
  std::vector<double> default_times(std::size_t candidate) const;

  struct Winner {
    std::size_t candidate = 0;
    Won won = Won::kSeparated;
  };
  // Returns the last remaining candidate. A tie settled within the band goes to the first by name,
  // so that two tunings that find the same tie name the same winner. Otherwise the fastest by
  // estimate wins. Call it after end() or is_over(). Input error unless there is one name for each
  // candidate.
  Result<Winner> winner(std::span<const std::string> names) const;

 private:
  Status look();
  // Times, rounds x running(): a candidate that still runs has run in every round.
  std::vector<std::vector<double>> times_of_running() const;
  // Times of a column in the rounds that `with` took part in.
  std::vector<double> times_of(std::size_t column, std::size_t with) const;

  std::size_t candidates_;
  RaceOptions options_;
  std::size_t fewest_ = 0, next_look_ = 0, looked_ = 0;  // rounds
  std::vector<std::size_t> running_, tied_;
  std::vector<std::size_t> compared_;        // running() at the last look, which ties_ is about
  std::vector<std::vector<double>> rounds_;  // by candidate, the default last; NaN: took no part
  TieSet ties_;
  bool over_ = false;
};

}  // namespace hone::measure
