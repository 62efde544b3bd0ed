// The finalists of a dispatch: its best candidates and the default, measured again and again in
// other memory, until they are told apart or a tie is known, and compared with the reference again
// after each time that they were timed.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "measure/race.h"
#include "tune/context.h"
#include "tune/dispatch_bench.h"

namespace hone::tune {

// How one round samples a kernel of about this time; the same for all that share it.
measure::Protocol finalist_protocol(double seconds_per_launch);
// What else their times depend on: how many rounds, when they end (protocols.h).
nlohmann::json finalist_round_constants(bool gpu);

// The samples of rounds that several codes shared, the default's last.
class FinalistSamples {
 public:
  explicit FinalistSamples(std::vector<std::string> identities);
  // One round; its handles are those of the identities. A failure when one gave no sample.
  Status add(const measure::MeasureResult& round);
  // One in which only these columns took part, ascending, the default's last.
  Status add(const measure::MeasureResult& round, const std::vector<std::size_t>& columns);
  // rounds()[r][c]: seconds per launch; NaN where the column took no part.
  const std::vector<std::vector<double>>& rounds() const { return rounds_; }
  // Writes the first `columns` into the store as finalists, with the median of the ratios to the
  // default.
  Status record(DispatchBench& bench, std::size_t columns) const;

 private:
  std::vector<std::string> identities_;
  std::vector<measure::HandleSamples> samples_;
  std::vector<std::vector<double>> rounds_;
  measure::MeasureResult machine_;
};

struct Finalist {
  store::Id candidate = 0;
  std::string name;  // decides among those that are tied
};

struct FinalistRounds {
  // Those that were right in every launch that was compared, in the order given; columns of `race`.
  std::vector<store::Id> candidates;
  // Every round loads the code anew and moves the buffers, since where both happen to lie makes a
  // kernel up to several percent faster or slower (Mytkowicz et al., Producing wrong data without
  // doing anything obviously wrong, ASPLOS 2009): a round is one sample of that too.
  measure::Race race{1};
  // A column; none when no candidate is left.
  std::optional<measure::Race::Winner> winner;
};

// Races the finalists (race.h) for about `seconds`, and takes the fewest rounds that allow a
// verdict in any case, unless these take longer than twice as long: then only the one that is
// fastest until now goes on beside the default. `progress` is told the seconds left. Every sample
// is recorded.
//
// After each round every finalist that ran is launched once more and compared with the reference;
// before one is the winner, kComparedLaunches in all were right, or as many as half of `seconds`
// allows: the event "compared" says how many. One that is wrong, or that is measured above the
// device's arithmetic peak again and again, is recorded as a failed candidate, and the others race
// anew, since it may have been what they were found slower than.
//
// A failure when a finalist no longer loads or runs.
Result<FinalistRounds> race_finalists(Context& context, DispatchBench& bench,
                                      const std::vector<Finalist>& finalists, double seconds,
                                      const std::function<void(double)>& progress);

// The same, but all run to the end, and all are compared as a winner is: `winner` is none.
Result<FinalistRounds> measure_finalists(Context& context, DispatchBench& bench,
                                         const std::vector<store::Id>& finalists, double seconds,
                                         const std::function<void(double)>& progress);

}  // namespace hone::tune
