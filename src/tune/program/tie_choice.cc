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
                                      std::string_view name, std::string winners) {
  const std::string alone = fmt::format("{} (winners alone)", name);
  std::vector<std::string> names{alone};
  std::vector<std::size_t> ranks;
  const Stopwatch watch(context_.clock);
  while (const std::optional<TiedEntries> tied = tied_entries(entries, ranks.size())) {
    if (watch.seconds() > kNearTieShare * context_.options.budget_seconds) break;
    HONE_ASSIGN(Variant variant, variant_of_(tied->entries, fmt::format("{} (near ties {})", name,
                                                                        ranks.size() + 1)));
    names.push_back(variant.name);
    ranks.push_back(ranks.size());
    HONE_TRY(variants_.add(std::move(variant)));
  }
  if (ranks.empty()) return winners;
  HONE_ASSIGN(Variant with_winners, variant_of_(entries, alone));
  with_winners.compiled = winners;
  HONE_TRY(variants_.add(std::move(with_winners)));
  HONE_ASSIGN(const std::vector<ChosenTie> chosen, faster_ones(entries, names, ranks));
  const std::vector<TunedDispatch> before = tuned_;
  taken_ = 0;
  for (const ChosenTie& tie : chosen) HONE_TRY(take(entries[tie.entry], tie));
  if (taken_ > 0) {
    names.push_back(fmt::format("{} (chosen in the program)", name));
    HONE_ASSIGN(const bool slower, is_slower(entries, alone, names.back()));
    // The elements stay where they are: entries point to them.
    if (slower) {
      std::ranges::copy(before, tuned_.begin());
    } else {
      HONE_ASSIGN(winners, read_file(variants_.timed_for(names.back())->module));
    }
  }
  for (const std::string& each : names)
    if (is_usable(each)) variants_.set_aside(each, std::string(kWhySetAside));
  return winners;
}

bool TieChoice::is_usable(const std::string& name) const {
  const Variant* const variant = variants_.find(name);
  return variant != nullptr && variant->usable();
}

// `names`: the program with the winners, and those with near ties of these ranks.
Result<std::vector<ChosenTie>> TieChoice::faster_ones(const std::vector<VerifiedEntry>& entries,
                                                      std::vector<std::string> names,
                                                      std::vector<std::size_t> ranks) {
  for (std::size_t v = names.size(); v-- > 1;) {
    if (is_usable(names[v])) continue;
    names.erase(names.begin() + static_cast<std::ptrdiff_t>(v));
    ranks.erase(ranks.begin() + static_cast<std::ptrdiff_t>(v) - 1);
  }
  if (names.size() < 2 || !is_usable(names.front())) return std::vector<ChosenTie>();
  return faster_in_place(context_, variants_, names, ranks, entries);
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
Result<bool> TieChoice::is_slower(const std::vector<VerifiedEntry>& entries,
                                  const std::string& winners, const std::string& chosen) {
  HONE_ASSIGN(Variant variant, variant_of_(entries, chosen));
  HONE_TRY(variants_.add(std::move(variant)));
  // Where every entry took its first near tie, it is the program that had them all.
  const Variant* const with = variants_.timed_for(chosen);
  if (with == nullptr) return true;
  const std::string& base = variants_.all().front().name;
  HONE_TRY(variants_.time(rounds_, {base, winners, with->name}, context_.options.seed,
                          context_.deadline.for_choosing()));
  HONE_ASSIGN(const measure::PairedComparison gained,
              measure::compare_paired(variants_.find(winners)->seconds, with->seconds));
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
