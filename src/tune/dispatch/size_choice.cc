#include "tune/dispatch/size_choice.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/ranges.h"
#include "measure/comparison.h"
#include "plan/policy.h"
#include "tune/dispatch/combined_verdict.h"
#include "tune/dispatch/finalists.h"

namespace hone::tune {
namespace {

// Winner at one size or dispatch, and candidate for all.
struct Rival {
  std::string configuration;  // JSON
  double speedup = 1;         // where it won
  provider::Payload payload;
  std::string dispatch;  // where it won, and what it is there (TunedDispatch::code)
  std::string code;
  std::optional<problem::Launch> launch;
  // Comparisons with the default, at each size where the rival is correct.
  std::vector<measure::PairedComparison> comparisons = {};
  std::vector<store::Id> candidates = {};  // likewise
  std::vector<std::string> where = {};     // likewise
};

// "1.31x at M=1, 0.98x at M=512".
std::string speedups(const Rival& rival) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < rival.where.size(); ++i)
    words.push_back(fmt::format("{:.2f}x at {}", 1 / rival.comparisons[i].ratio, rival.where[i]));
  return fmt::format("{}", fmt::join(words, ", "));
}

Result<std::vector<Rival>> rivals_of(store::Store& store, const std::vector<DispatchAtSize>& at) {
  std::vector<Rival> rivals;
  for (const DispatchAtSize& each : at) {
    if (!each.tuned->payload) continue;
    HONE_ASSIGN(store::CandidateRow row, store.candidate(*each.tuned->selection.winner));
    if (std::ranges::count(rivals, row.configuration, &Rival::configuration) == 0)
      rivals.push_back({std::move(row.configuration), each.tuned->selection.speedup.value_or(1),
                        *each.tuned->payload, each.tuned->dispatch->name, each.tuned->code,
                        each.tuned->launch});
  }
  std::ranges::stable_sort(rivals, std::greater(), &Rival::speedup);
  if (rivals.size() > plan::kMostRivals)
    rivals.erase(rivals.begin() + plan::kMostRivals, rivals.end());
  return rivals;
}

Result<DispatchBench> bench_of(Context& context, const DispatchAtSize& at) {
  HONE_ASSIGN(DispatchBench bench,
              DispatchBench::prepare(context, *at.tuned->dispatch, at.reference));
  const Status ready = bench.set_up();
  if (!ready) HONE_TRY(context.compiler.release(bench.key()));
  HONE_TRY(ready);
  return bench;
}

// Compares the rivals at one size. If its default cannot be verified or run, no rival counts as
// correct there.
Status compare_at(Context& context, const DispatchAtSize& at, double seconds, Progress progress,
                  std::vector<Rival>& rivals) {
  Result<DispatchBench> ready = bench_of(context, at);
  HONE_TRY(all_but_failure(ready));
  if (!ready) return context.store.log_event("not compared", ready.error().message);
  DispatchBench& bench = *ready;
  std::vector<Trial> trials;
  for (const Rival& rival : rivals) {
    Trial trial;
    trial.payload = rival.payload;
    store::CandidateRow row = bench.candidate_row(rival.configuration);
    if (!rival.payload.replacing.empty()) row.provider = rival.payload.replacing;
    HONE_ASSIGN(trial.candidate, context.store.add_candidate(row));
    trials.push_back(std::move(trial));
  }
  Trials all;
  for (Trial& trial : trials) all.push_back(&trial);
  HONE_TRY(bench.run_to_the_end(all));
  std::vector<Rival*> right;
  std::vector<store::Id> candidates;
  for (std::size_t i = 0; i < rivals.size(); ++i) {
    if (!trials[i].ratio) continue;
    right.push_back(&rivals[i]);
    candidates.push_back(trials[i].candidate);
  }
  if (!right.empty()) {
    HONE_ASSIGN(const FinalistRounds rounds,
                measure_finalists(context, bench, candidates, seconds, [&](double left) {
                  progress.seconds_left = left;
                  context.observer.progress(progress);
                }));
    for (std::size_t i = 0; i < right.size(); ++i) {
      // Rivals that were wrong in a later launch have no column.
      const auto column = std::ranges::find(rounds.candidates, candidates[i]);
      if (column == rounds.candidates.end()) continue;
      const auto c = static_cast<std::size_t>(column - rounds.candidates.begin());
      HONE_ASSIGN(measure::PairedComparison comparison,
                  measure::compare_paired(rounds.race.default_times(c), rounds.race.times(c)));
      right[i]->comparisons.push_back(std::move(comparison));
      right[i]->candidates.push_back(candidates[i]);
      right[i]->where.push_back(at.where);
    }
  }
  return context.compiler.release(bench.key());
}

const Rival* best_of(const std::vector<Rival>& rivals, std::size_t sizes) {
  std::vector<std::vector<measure::PairedComparison>> comparisons =
      mapped(rivals, &Rival::comparisons);
  const std::optional<std::size_t> best = fastest_of(comparisons, sizes);
  return best ? &rivals[*best] : nullptr;
}

// Returns the rivals that are correct everywhere and, by the mean ratio, about as fast as the
// chosen one.
std::vector<const Rival*> close_to(const Rival& chosen, const std::vector<Rival>& rivals,
                                   std::size_t sizes) {
  const auto ratio = [](const Rival& rival) { return mean_ratio(rival.comparisons); };
  std::vector<const Rival*> close;
  for (const Rival& rival : rivals)
    if (&rival != &chosen && rival.comparisons.size() == sizes &&
        ratio(rival) <= plan::kNearTieRatio * ratio(chosen))
      close.push_back(&rival);
  std::ranges::sort(close, {}, [&](const Rival* rival) { return ratio(*rival); });
  if (close.size() > plan::kMostNearTies) close.resize(plan::kMostNearTies);
  return close;
}

void take(const std::vector<DispatchAtSize>& at, const Rival& chosen,
          const std::vector<const Rival*>& close) {
  for (std::size_t i = 0; i < at.size(); ++i) {
    TunedDispatch& tuned = *at[i].tuned;
    tuned.payload = chosen.payload;
    const bool is_same_kernel = tuned.dispatch->name == chosen.dispatch;
    tuned.code = is_same_kernel ? chosen.code : "";
    tuned.launch = is_same_kernel ? chosen.launch : std::nullopt;
    tuned.selection.winner = chosen.candidates[i];
    tuned.selection.ties = {chosen.candidates[i]};
    tuned.near_ties.clear();
    for (const Rival* rival : close)
      tuned.near_ties.push_back({rival->candidates[i], rival->payload});
    take_speedup(tuned.selection, chosen.comparisons[i]);
    tuned.selection.reason = "the fastest over all that one entry is for: " + speedups(chosen);
  }
}

}  // namespace

Status choose_for_all_sizes(Context& context, const std::vector<DispatchAtSize>& at,
                            double seconds) {
  const auto span = context.spend(trial::Activity::kFinalists);
  HONE_ASSIGN(std::vector<Rival> rivals, rivals_of(context.store, at));
  if (rivals.empty()) return {};
  Progress progress;
  progress.dispatch = at.front().tuned->dispatch->name;
  progress.dispatch_count = at.size();
  progress.stage = Stage::kFinalists;
  progress.step = "finalists";
  progress.tried = progress.planned = rivals.size();
  for (const DispatchAtSize& each : at) {
    HONE_TRY(compare_at(context, each, seconds, progress, rivals));
    ++progress.dispatch_index;
  }
  std::vector<std::string> places = mapped(at, &DispatchAtSize::where);
  if (const Rival* best = best_of(rivals, at.size())) {
    take(at, *best, close_to(*best, rivals, at.size()));
    context.note("{}: {}; slower nowhere by more than {:.1f} %", progress.dispatch, speedups(*best),
                 100 * slower_margin(best->comparisons));
    return {};
  }
  const std::string why = fmt::format(
      "one entry of a spec is for {}, and no configuration is right in all of them, faster than "
      "the "
      "default in one and slower in none",
      fmt::join(places, ", "));
  for (const DispatchAtSize& each : at) each.tuned->keep_default(why);
  context.note("{}: {}", progress.dispatch, why);
  for (const Rival& rival : rivals) context.note("  the winner of one: {}", speedups(rival));
  return {};
}

}  // namespace hone::tune
