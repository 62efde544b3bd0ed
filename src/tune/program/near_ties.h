// Which of several configurations that are about as fast by themselves serves best in the program:
// there operands are where the kernel before left them, and weights come from memory.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tune/program/build_bench.h"
#include "tune/program/spec_entries.h"

namespace hone::tune {

// Entries that stand for others: each one's near tie of the same rank.
struct TiedEntries {
  std::deque<TunedDispatch> tuned;     // that `entries` point to
  std::vector<VerifiedEntry> entries;  // of as many dispatches as the winners'
};

// `entries` with the near tie number `rank`, from 0, in place of the winner of each that has so
// many; nothing where none has.
std::optional<TiedEntries> tied_entries(const std::vector<VerifiedEntry>& entries,
                                        std::size_t rank);

// This part of the tuning's budget goes into compiling the program with near ties, and as much
// again into running it. A program that takes longer has one compile and the fewest runs.
inline constexpr double kNearTieShare = 0.1;

// One that is faster in the program than the winner is there.
struct ChosenTie {
  std::size_t entry = 0;
  std::size_t rank = 0;
  measure::PairedComparison in_place;  // its kernels beside the winner's, in a call
};

// `builds`: usable ones of the bench, with the winners of `entries` first, then with
// their near ties, the rank of each in `ranks`. Each kernel is timed in place in all of them, in
// turn; of each entry the one that is certainly faster than the winner, and the fastest of these.
// Errors: those of the runtime's tools.
Result<std::vector<ChosenTie>> faster_in_place(Context& context, const BuildBench& bench,
                                               const std::vector<BuildId>& builds,
                                               const std::vector<std::size_t>& ranks,
                                               const std::vector<VerifiedEntry>& entries);

// The independent compile of a dispatch; none where there is none.
using ReferenceOf = std::function<const problem::Dispatch*(const problem::Dispatch&)>;

// The near tie beside the default, by itself: once it was compared with the reference in as many
// launches as a winner is. Nothing where it is wrong, or not faster. Errors: those of
// tune_dispatch().
Result<std::optional<measure::PairedComparison>> confirmed(Context& context,
                                                           const TunedDispatch& tuned,
                                                           std::size_t rank,
                                                           const problem::Dispatch* reference);

// Puts it in the winner's place, which becomes the near tie. `alone`: what confirmed() said; `why`:
// for the selection.
void take_near_tie(TunedDispatch& tuned, std::size_t rank, const measure::PairedComparison& alone,
                   const std::string& why);

}  // namespace hone::tune
