// The finalists of a dispatch: its best candidates and the default, measured again and again in
// other memory, until they are told apart or a tie is known.
#pragma once

#include <functional>
#include <vector>

#include "measure/comparison.h"
#include "measure/ties.h"
#include "tune/context.h"
#include "tune/dispatch_bench.h"

namespace hone::tune {

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
