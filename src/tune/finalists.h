// The finalists of a dispatch: its best candidates and the default, measured again and again in
// other memory, until they are told apart or a tie is known.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "measure/comparison.h"
#include "measure/ties.h"
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
  // rounds()[r][c]: seconds per launch.
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

struct FinalistRounds {
  std::vector<store::Id> candidates;  // by column; the default's last
  // rounds[r][c]: seconds per launch. Every round loads the code anew and moves the buffers, since
  // where both happen to lie makes a kernel up to several percent faster or slower (Mytkowicz et
  // al., Producing wrong data without doing anything obviously wrong, ASPLOS 2009): a round is one
  // sample of that too.
  std::vector<std::vector<double>> rounds;
  measure::TieSet ties;  // of the candidates, without the default

  std::vector<double> times(std::size_t column) const;  // over the rounds
};

// Spends about `seconds`: it ends before when the ties are settled and the best's ratio to the
// default is known to half a percent, and takes the fewest rounds that allow a verdict in any case.
// It looks whether that is so after 8, 16, 32, 64 and 128 rounds, which is the most; the tie set's
// error is shared by these looks, so that it holds whenever sampling ends. `progress` is told the
// seconds left. Every sample is recorded. A failure when a finalist no longer loads or runs.
Result<FinalistRounds> measure_finalists(Context& context, DispatchBench& bench,
                                         const std::vector<store::Id>& finalists, double seconds,
                                         const std::function<void(double)>& progress);

}  // namespace hone::tune
