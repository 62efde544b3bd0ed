#include "tune/program/tie_choice.h"

#include <algorithm>
#include <deque>
#include <numeric>
#include <set>
#include <utility>

#include "base/file.h"
#include "base/ranges.h"
#include "base/stopwatch.h"
#include "plan/policy.h"
#include "tune/dispatch/finalists.h"

namespace hone::tune {
namespace {

SecondsByKernel seconds_of_a_call(const std::vector<provider::KernelTime>& kernels,
                                  const KnownKernel& known) {
  const auto* const found = find_by(kernels, known.name, &provider::KernelTime::name);
  SecondsByKernel seconds;
  if (found == nullptr) return seconds;
  const double calls = static_cast<double>(found->launches) / known.launches;
  for (const provider::KernelTime& each : kernels)
    if (static_cast<double>(each.launches) >= calls) seconds[each.name] += each.seconds / calls;
  return seconds;
}

constexpr std::string_view kWhySetAside = "screened: its kernels are timed in place";

std::string words_of(const measure::PairedComparison& comparison) {
  return fmt::format("{:.2f}x [{:.2f}, {:.2f}]", 1 / comparison.ratio, 1 / comparison.interval.high,
                     1 / comparison.interval.low);
}

// Returns the names of the entry's kernels; launch sets of a kernel share one.
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

// Returns the seconds of all the entry's kernels together, by run; empty if a run does not report
// one.
std::vector<double> seconds_of(const VerifiedEntry& entry,
                               const std::vector<SecondsByKernel>& runs) {
  const std::set<std::string> kernels = kernels_of(entry);
  std::vector<double> seconds;
  for (const SecondsByKernel& run : runs) {
    double all = 0;
    for (const std::string& kernel : kernels) {
      const auto* const found = value_at(run, kernel);
      if (found == nullptr) return {};
      all += *found;
    }
    seconds.push_back(all);
  }
  return seconds;
}

// Entries with each winner replaced by its near tie of the same rank.
struct TiedEntries {
  std::deque<TunedDispatch> tuned;     // that `entries` point to
  std::vector<VerifiedEntry> entries;  // of as many dispatches as the winners'
};

// Returns `entries` with each winner replaced by its near tie number `rank`, from 0, if it has so
// many; none if no winner has.
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

// A near tie that is faster in the program than the winner.
struct ChosenTie {
  std::size_t entry = 0;
  std::size_t rank = 0;
  measure::PairedComparison in_place;  // its kernels beside the winner's, in a call
};

// Times each kernel in place in all builds, in turn. Returns for each entry the fastest near tie
// that is certainly faster than the winner, if there is one. `builds`: usable builds of the bench,
// first with the winners of `entries`, then with near ties of the ranks in `ranks`. Errors: those
// of the runtime's tools.
Result<std::vector<ChosenTie>> faster_in_place(Context& context, const BuildBench& bench,
                                               const std::vector<BuildId>& builds,
                                               const std::vector<std::size_t>& ranks,
                                               const std::vector<VerifiedEntry>& entries) {
  const std::string& name = entries.front().name();
  const InPlaceRuns request{plan::kTieRuns, plan::kFewestTieRuns,
                            plan::kNearTieShare * context.options.budget_seconds};
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

// Compares the near tie alone with the default, after comparing it with the reference in as many
// launches as a winner. None if it is wrong, or not faster. Errors: those of tune_dispatch().
Result<std::optional<measure::PairedComparison>> confirmed(Context& context,
                                                           const TunedDispatch& tuned,
                                                           std::size_t rank,
                                                           const problem::Dispatch* reference) {
  const store::Id candidate = tuned.near_ties.at(rank).candidate;
  HONE_ASSIGN(DispatchBench bench, DispatchBench::prepare(context, *tuned.dispatch, reference));
  const auto measured = [&]() -> Result<FinalistRounds> {
    HONE_TRY(bench.set_up());
    return measure_finalists(context, bench, {candidate}, plan::kConfirmingSeconds, [](double) {});
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

// Swaps a near tie with the winner. `alone`: the result of confirmed(); `why`: for the selection.
void take_near_tie(TunedDispatch& tuned, std::size_t rank, const measure::PairedComparison& alone,
                   const std::string& why) {
  NearTie& tie = tuned.near_ties.at(rank);
  const store::Id candidate = tie.candidate;
  tie.candidate = *tuned.selection.winner;
  std::swap(*tuned.payload, tie.payload);
  tuned.selection.winner = candidate;
  take_speedup(tuned.selection, alone);
  tuned.selection.reason = why;
}

class TieChoice {
 public:
  TieChoice(Context& context, BuildBench& builds, const TieRequest& request)
      : context_(context), builds_(builds), request_(request) {}

  Result<std::string> run() {
    const std::vector<VerifiedEntry>& entries = request_.entries;
    HONE_ASSIGN(ProgramBuild alone,
                request_.build_of(entries, fmt::format("{} (winners alone)", request_.label)));
    std::vector<BuildId> ids{alone.id()};
    std::vector<std::size_t> ranks;
    const Stopwatch watch(context_.clock);
    while (const std::optional<TiedEntries> tied = tied_entries(entries, ranks.size())) {
      if (watch.seconds() > plan::kNearTieShare * context_.options.budget_seconds) break;
      HONE_ASSIGN(ProgramBuild build,
                  request_.build_of(tied->entries, fmt::format("{} (near ties {})", request_.label,
                                                               ranks.size() + 1)));
      ids.push_back(build.id());
      ranks.push_back(ranks.size());
      HONE_TRY(builds_.add(std::move(build)));
    }
    std::string winners = request_.winners;
    if (ranks.empty()) return winners;
    alone.compiled = winners;
    HONE_TRY(builds_.add(std::move(alone)));
    HONE_ASSIGN(const std::vector<ChosenTie> chosen, faster_ones(ids, ranks));
    const std::vector<TunedDispatch> before = request_.tuned;
    taken_ = 0;
    for (const ChosenTie& tie : chosen) HONE_TRY(take(entries[tie.entry], tie));
    if (taken_ > 0) {
      HONE_ASSIGN(
          ProgramBuild build,
          request_.build_of(entries, fmt::format("{} (chosen in the program)", request_.label)));
      ids.push_back(build.id());
      HONE_ASSIGN(const bool slower, is_slower(ids.front(), std::move(build)));
      // Copies the elements in place, since entries point to them.
      if (slower) {
        std::ranges::copy(before, request_.tuned.begin());
      } else {
        HONE_ASSIGN(winners, read_file(builds_.timed_for(ids.back())->module));
      }
    }
    for (const BuildId& each : ids)
      if (is_usable(each)) builds_.set_aside(each, std::string(kWhySetAside));
    return winners;
  }

 private:
  // `ids`: the build with the winners, then those with near ties of these ranks.
  Result<std::vector<ChosenTie>> faster_ones(std::vector<BuildId> ids,
                                             std::vector<std::size_t> ranks) {
    for (std::size_t v = ids.size(); v-- > 1;) {
      if (is_usable(ids[v])) continue;
      ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(v));
      ranks.erase(ranks.begin() + static_cast<std::ptrdiff_t>(v) - 1);
    }
    if (ids.size() < 2 || !is_usable(ids.front())) return std::vector<ChosenTie>();
    return faster_in_place(context_, builds_, ids, ranks, request_.entries);
  }

  // Takes the near tie in all dispatches that the entry is for, or in none.
  Status take(const VerifiedEntry& entry, const ChosenTie& tie) {
    std::vector<std::pair<std::size_t, measure::PairedComparison>> dispatches;  // of request_.tuned
    for (const TunedDispatch* verified : entry.verified) {
      const problem::Dispatch* const reference = request_.reference_of(*verified->dispatch);
      HONE_ASSIGN(auto alone, confirmed(context_, *verified, tie.rank, reference));
      if (!alone) return {};
      dispatches.emplace_back(static_cast<std::size_t>(verified - request_.tuned.data()),
                              std::move(*alone));
    }
    const std::string why = fmt::format("in the program {} faster than what is fastest by itself",
                                        words_of(tie.in_place));
    for (const auto& [place, alone] : dispatches)
      take_near_tie(request_.tuned[place], tie.rank, alone, why);
    ++taken_;
    context_.note("{}: another configuration is {}", entry.name(), why);
    return context_.store.log_event("chosen in the program",
                                    fmt::format("{}: {}", entry.name(), why));
  }

  // Times the whole program with the choice. Of twenty compared kernels one is a false positive,
  // and a faster kernel may slow its neighbours.
  Result<bool> is_slower(const BuildId& winners, ProgramBuild chosen) {
    const BuildId id = chosen.id();
    HONE_TRY(builds_.add(std::move(chosen)));
    const ProgramBuild* with = builds_.timed_for(id);
    if (with == nullptr) return true;
    HONE_TRY(builds_.time(plan::kChoosingRounds, {default_build().id(), winners, with->id()},
                          context_.options.seed, context_.state->deadline.for_choosing()));
    HONE_ASSIGN(const measure::PairedComparison gained,
                measure::compare_paired(builds_.find(winners)->seconds, with->seconds));
    const bool slower = gained.verdict == measure::Verdict::kSlower;
    const std::string words = fmt::format(
        "with what was chosen in it ({} of {} entries) the program is {}, beside what is fastest "
        "alone: {}{}",
        taken_, request_.entries.size(), measure::name_of(gained.verdict), words_of(gained),
        slower ? "; it is taken back" : "");
    context_.observer.note(words);
    HONE_TRY(context_.store.log_event("choice in the program", words));
    return slower;
  }

  bool is_usable(const BuildId& id) const {
    const ProgramBuild* const build = builds_.find(id);
    return build != nullptr && build->usable();
  }

  Context& context_;
  BuildBench& builds_;
  const TieRequest& request_;
  std::size_t taken_ = 0;
};

}  // namespace

Result<std::vector<std::vector<SecondsByKernel>>> look_in_place(Context& context,
                                                                const BuildBench& bench,
                                                                const std::vector<BuildId>& builds,
                                                                const InPlaceRuns& runs,
                                                                const KnownKernel& known) {
  std::vector<std::vector<SecondsByKernel>> seconds(builds.size());
  const Stopwatch watch(context.clock);
  for (int run = 0; run < runs.most; ++run) {
    if (run >= runs.least && watch.seconds() > runs.seconds) break;
    context.observer.progress({.step = "timing the kernels in place",
                               .tried = static_cast<std::size_t>(run),
                               .planned = static_cast<std::size_t>(runs.most)});
    for (std::size_t v = 0; v < builds.size(); ++v) {
      HONE_ASSIGN(const provider::ProgramTimes times, bench.kernel_times(builds[v]));
      seconds[v].push_back(seconds_of_a_call(times.kernels, known));
    }
  }
  return seconds;
}

Result<std::string> choose_among_ties(Context& context, BuildBench& builds,
                                      const TieRequest& request) {
  return TieChoice(context, builds, request).run();
}

}  // namespace hone::tune
