// Runs finalists in rounds until a winner is known: which are dropped, when to look, when to end,
// which wins. Pure: told the times of each round, it knows no device and no clock.
//
// After each look, finalists found slower than another one (ties.h) leave, so that the remaining
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
#include "measure/ties.h"

namespace hone::measure {

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
