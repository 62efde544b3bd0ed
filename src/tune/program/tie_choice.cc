#include "tune/program/tie_choice.h"

#include <utility>

#include "base/file.h"
#include "base/stopwatch.h"

namespace hone::tune {
namespace {

constexpr std::string_view kWhySetAside = "its kernels are timed in place, to choose by";

std::string words_of(const measure::PairedComparison& comparison) {
  return fmt::format("{:.2f}x [{:.2f}, {:.2f}]", 1 / comparison.ratio, 1 / comparison.interval.high,
                     1 / comparison.interval.low);
}

}  // namespace

Result<std::string> TieChoice::choose(const std::vector<VerifiedEntry>& entries,
                                      std::string_view label, std::string winners) {
  HONE_ASSIGN(ProgramBuild alone, build_of_(entries, fmt::format("{} (winners alone)", label)));
  std::vector<BuildId> ids{alone.id()};
  std::vector<std::size_t> ranks;
  const Stopwatch watch(context_.clock);
  while (const std::optional<TiedEntries> tied = tied_entries(entries, ranks.size())) {
    if (watch.seconds() > kNearTieShare * context_.options.budget_seconds) break;
    HONE_ASSIGN(ProgramBuild build, build_of_(tied->entries, fmt::format("{} (near ties {})", label,
                                                                         ranks.size() + 1)));
    ids.push_back(build.id());
    ranks.push_back(ranks.size());
    HONE_TRY(builds_.add(std::move(build)));
  }
  if (ranks.empty()) return winners;
  alone.compiled = winners;
  HONE_TRY(builds_.add(std::move(alone)));
  HONE_ASSIGN(const std::vector<ChosenTie> chosen, faster_ones(entries, ids, ranks));
  const std::vector<TunedDispatch> before = tuned_;
  taken_ = 0;
  for (const ChosenTie& tie : chosen) HONE_TRY(take(entries[tie.entry], tie));
  if (taken_ > 0) {
    HONE_ASSIGN(ProgramBuild build,
                build_of_(entries, fmt::format("{} (chosen in the program)", label)));
    ids.push_back(build.id());
    HONE_ASSIGN(const bool slower, is_slower(entries, ids.front(), std::move(build)));
    // The elements stay where they are: entries point to them.
    if (slower) {
      std::ranges::copy(before, tuned_.begin());
    } else {
      HONE_ASSIGN(winners, read_file(builds_.timed_for(ids.back())->module));
    }
  }
  for (const BuildId& each : ids)
    if (is_usable(each)) builds_.set_aside(each, std::string(kWhySetAside));
  return winners;
}

bool TieChoice::is_usable(const BuildId& id) const {
  const ProgramBuild* const build = builds_.find(id);
  return build != nullptr && build->usable();
}

// `ids`: the program with the winners, and those with near ties of these ranks.
Result<std::vector<ChosenTie>> TieChoice::faster_ones(const std::vector<VerifiedEntry>& entries,
                                                      std::vector<BuildId> ids,
                                                      std::vector<std::size_t> ranks) {
  for (std::size_t v = ids.size(); v-- > 1;) {
    if (is_usable(ids[v])) continue;
    ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(v));
    ranks.erase(ranks.begin() + static_cast<std::ptrdiff_t>(v) - 1);
  }
  if (ids.size() < 2 || !is_usable(ids.front())) return std::vector<ChosenTie>();
  return faster_in_place(context_, builds_, ids, ranks, entries);
}

Status TieChoice::take(const VerifiedEntry& entry, const ChosenTie& tie) {
  std::vector<std::pair<std::size_t, measure::PairedComparison>> dispatches;  // of tuned_
  for (const TunedDispatch* verified : entry.verified) {
    const problem::Dispatch* const reference = reference_of_(*verified->dispatch);
    HONE_ASSIGN(auto alone, confirmed(context_, *verified, tie.rank, reference));
    if (!alone) return {};
    dispatches.emplace_back(static_cast<std::size_t>(verified - tuned_.data()), std::move(*alone));
  }
  const std::string why = fmt::format("in the program {} faster than what is fastest by itself",
                                      words_of(tie.in_place));
  for (const auto& [place, alone] : dispatches) take_near_tie(tuned_[place], tie.rank, alone, why);
  ++taken_;
  context_.observer.note(fmt::format("{}: another configuration is {}", entry.name(), why));
  return context_.store.log_event("chosen in the program",
                                  fmt::format("{}: {}", entry.name(), why));
}

// Of twenty kernels compared one is called faster that is not, and one that is faster may slow its
// neighbours: what the choice is worth is asked of the program.
Result<bool> TieChoice::is_slower(const std::vector<VerifiedEntry>& entries, const BuildId& winners,
                                  ProgramBuild chosen) {
  const BuildId id = chosen.id();
  HONE_TRY(builds_.add(std::move(chosen)));
  const ProgramBuild* with = builds_.timed_for(id);
  if (with == nullptr) return true;
  HONE_TRY(builds_.time(rounds_, {default_build().id(), winners, with->id()}, context_.options.seed,
                        context_.state->deadline.for_choosing()));
  HONE_ASSIGN(const measure::PairedComparison gained,
              measure::compare_paired(builds_.find(winners)->seconds, with->seconds));
  const bool slower = gained.verdict == measure::Verdict::kSlower;
  const std::string words = fmt::format(
      "with what was chosen in it ({} of {} entries) the program is {}, beside what is fastest "
      "alone: {}{}",
      taken_, entries.size(), measure::name_of(gained.verdict), words_of(gained),
      slower ? "; it is taken back" : "");
  context_.observer.note(words);
  HONE_TRY(context_.store.log_event("choice in the program", words));
  return slower;
}

}  // namespace hone::tune
