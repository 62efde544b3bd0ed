#include "tune/program/near_ties.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "tune/dispatch/finalists.h"
#include "tune/program/kernels_in_place.h"

namespace hone::tune {
namespace {

// Each program is run so often in turn: with so many runs a kernel that is faster in all but one is
// certainly so; the fewest are those that allow a verdict at all (comparison.h).
constexpr int kRuns = 9, kFewestRuns = 6;
// A near tie that is to be the winner takes this long to be compared with the default, and with the
// reference.
constexpr double kConfirmingSeconds = 2;

// Launch sets of a kernel have one name.
std::set<std::string> kernels_of(const VerifiedEntry& entry) {
  std::set<std::string> names;
  for (const TunedDispatch* verified : entry.verified) names.insert(verified->dispatch->name);
  return names;
}

int launches_of(const VerifiedEntry& entry, const std::string& kernel) {
  return std::accumulate(entry.verified.begin(), entry.verified.end(), 0,
                         [&](int launches, const TunedDispatch* verified) {
                           const problem::Dispatch& dispatch = *verified->dispatch;
                           return dispatch.name == kernel
                                      ? launches + std::max(1, dispatch.launches_per_call)
                                      : launches;
                         });
}

// Returns the seconds of all the entry's kernels together, by run; empty when a run does not tell.
std::vector<double> seconds_of(const VerifiedEntry& entry,
                               const std::vector<SecondsByKernel>& runs) {
  const std::set<std::string> kernels = kernels_of(entry);
  std::vector<double> seconds;
  for (const SecondsByKernel& run : runs) {
    double all = 0;
    for (const std::string& kernel : kernels) {
      const auto found = run.find(kernel);
      if (found == run.end()) return {};
      all += found->second;
    }
    seconds.push_back(all);
  }
  return seconds;
}

}  // namespace

std::optional<TiedEntries> tied_entries(const std::vector<VerifiedEntry>& entries,
                                        std::size_t rank) {
  TiedEntries tied;
  bool any = false;
  for (const VerifiedEntry& entry : entries) {
    VerifiedEntry& with = tied.entries.emplace_back(entry);
    if (entry.tuned->near_ties.size() <= rank) continue;
    any = true;
    TunedDispatch& copy = tied.tuned.emplace_back(*entry.tuned);
    copy.payload = entry.tuned->near_ties[rank].payload;
    with.tuned = &copy;
  }
  if (!any) return std::nullopt;
  return tied;
}

Result<std::vector<ChosenTie>> faster_in_place(Context& context, const BuildBench& bench,
                                               const std::vector<BuildId>& builds,
                                               const std::vector<std::size_t>& ranks,
                                               const std::vector<VerifiedEntry>& entries) {
  const std::string& name = entries.front().name();
  const InPlaceRuns request{kRuns, kFewestRuns, kNearTieShare * context.options.budget_seconds};
  HONE_ASSIGN(const auto runs, look_in_place(context, bench, builds, request,
                                             {name, launches_of(entries.front(), name)}));
  std::vector<ChosenTie> chosen;
  for (std::size_t e = 0; e < entries.size(); ++e) {
    const std::vector<double> winner = seconds_of(entries[e], runs.front());
    std::optional<ChosenTie> best;
    for (std::size_t v = 1; v < builds.size(); ++v) {
      const std::vector<double> tie = seconds_of(entries[e], runs[v]);
      const bool has_it = entries[e].tuned->near_ties.size() > ranks[v - 1];
      if (!has_it || winner.empty() || tie.empty()) continue;
      HONE_ASSIGN(measure::PairedComparison beside, measure::compare_paired(winner, tie));
      if (beside.verdict != measure::Verdict::kFaster) continue;
      if (!best || beside.ratio < best->in_place.ratio)
        best = ChosenTie{e, ranks[v - 1], std::move(beside)};
    }
    if (best) chosen.push_back(std::move(*best));
  }
  return chosen;
}

Result<std::optional<measure::PairedComparison>> confirmed(Context& context,
                                                           const TunedDispatch& tuned,
                                                           std::size_t rank,
                                                           const problem::Dispatch* reference) {
  const store::Id candidate = tuned.near_ties.at(rank).candidate;
  HONE_ASSIGN(DispatchBench bench, DispatchBench::prepare(context, *tuned.dispatch, reference));
  const auto measured = [&]() -> Result<FinalistRounds> {
    HONE_TRY(bench.set_up());
    return measure_finalists(context, bench, {candidate}, kConfirmingSeconds, [](double) {});
  };
  const Result<FinalistRounds> rounds = measured();
  HONE_TRY(context.compiler.release(bench.key()));
  HONE_TRY(all_but_failure(rounds));
  if (!rounds || rounds->candidates.empty()) return std::nullopt;
  HONE_ASSIGN(const measure::PairedComparison alone,
              measure::compare_paired(rounds->race.default_times(0), rounds->race.times(0)));
  if (alone.verdict != measure::Verdict::kFaster) return std::nullopt;
  return alone;
}

void take_near_tie(TunedDispatch& tuned, std::size_t rank, const measure::PairedComparison& alone,
                   const std::string& why) {
  NearTie& tie = tuned.near_ties.at(rank);
  const store::Id candidate = tie.candidate;
  tie.candidate = *tuned.selection.winner;
  std::swap(*tuned.payload, tie.payload);
  tuned.selection.winner = candidate;
  tuned.selection.speedup = 1 / alone.ratio;
  tuned.selection.speedup_low = 1 / alone.interval.high;
  tuned.selection.speedup_high = 1 / alone.interval.low;
  tuned.selection.reason = why;
}

}  // namespace hone::tune
