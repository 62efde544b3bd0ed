#include "tune/program/fusion_sets.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>
#include <set>
#include <span>
#include <tuple>

#include "base/hash.h"
#include "plan/policy.h"
#include "tune/dispatch/dispatch_weight.h"

namespace hone::tune {
namespace {

using Choices = std::vector<std::size_t>;  // numbers

// All sets of some of these numbers, the largest first.
std::vector<Choices> subsets(const Choices& numbers, std::size_t most) {
  std::vector<Choices> sets;
  for (std::uint64_t chosen = 1; chosen < std::uint64_t{1} << numbers.size(); ++chosen) {
    if (static_cast<std::size_t>(std::popcount(chosen)) > most) continue;
    Choices& set = sets.emplace_back();
    for (std::size_t i = 0; i < numbers.size(); ++i)
      if ((chosen >> i & 1) != 0) set.push_back(numbers[i]);
  }
  std::ranges::stable_sort(sets, std::greater(), &Choices::size);
  return sets;
}

Choices together(Choices set, const Choices& others) {
  set.insert(set.end(), others.begin(), others.end());
  return set;
}

// Names a program by its dispatches.
std::string dispatches_of(const problem::Program& program) {
  std::string all;
  for (const problem::Dispatch& dispatch : program.dispatches)
    all += fmt::format("{} {}\n", dispatch.launches_per_call, problem::fingerprint(dispatch));
  return content_hash(all);
}

// Whether some provider has kernels for whatever attention there is: the compiler's own default is
// often slower than separate products.
bool attention_is_tunable(const Context& context, const problem::Program& program) {
  return std::ranges::all_of(program.dispatches, [&](const problem::Dispatch& dispatch) {
    const auto has_space = [&](const provider::Provider* each) {
      return each->why_no_space(dispatch).empty();
    };
    return dispatch.root.kind != problem::OperationKind::kAttention ||
           has_space(context.programs) || std::ranges::any_of(context.replacing, has_space);
  });
}

// Times that a product takes longer for operands that are loaded element by element, whatever
// kernel loads them.
double times_slower(const problem::Dispatch& dispatch) {
  const auto stated = problem::stated(dispatch.statement);
  if (!stated || !(*stated)->contracts()) return 1;
  double times = 1;
  for (const problem::StatedUse& operand : std::span((*stated)->operands).first(2))
    if (problem::loaded_at_once(**stated, operand, 2) == 1) times *= plan::kSlowerByElements;
  return times;
}

auto rank(const FusionSet& set) {
  return std::tuple(set.promise.seconds, set.promise.launches, set.choices.size());
}

}  // namespace

FusionPromise promise_of(const Context& context, const problem::Program& program) {
  FusionPromise promise;
  for (const problem::Dispatch& dispatch : program.dispatches) {
    promise.launches += dispatch.launches_per_call;
    promise.seconds += times_slower(dispatch) * estimated_weight(context, dispatch).share;
  }
  promise.seconds += promise.launches * context.options.place().facts.launch_seconds;
  return promise;
}

std::vector<std::string> flags_of(const std::vector<provider::FlagChoice>& choices,
                                  const std::vector<std::size_t>& set) {
  std::vector<std::string> flags;
  for (const std::size_t choice : set) flags = joined(std::move(flags), choices[choice].flags);
  return flags;
}

std::size_t splits_at_once(const Context& context, bool crowded) {
  return std::max<std::size_t>(
      1, context.options.compile_jobs / (crowded ? plan::kFewerCrowdedSplits : 1));
}

FusionJudge::FusionJudge(Context& context, const problem::Program& program,
                         const std::string& bytes, const problem::GivenSizes& given,
                         const std::vector<provider::FlagChoice>& choices, std::size_t at_once)
    : context_(context),
      bytes_(bytes),
      given_(given),
      choices_(choices),
      at_once_(at_once),
      as_it_is_(promise_of(context, program)) {
  Choices fusing;
  for (std::size_t i = 0; i < choices_.size(); ++i) {
    using enum provider::DispatchChange;
    if (choices_[i].changes == kFusion) fusing.push_back(i);
    if (choices_[i].changes == kRegions || choices_[i].changes == kLayouts) others_.push_back(i);
  }
  const std::vector<Choices> fused = subsets(fusing, plan::kFlagsFusedTogether);
  const auto small = std::ranges::find_if(
      fused, [&](const Choices& set) { return set.size() + 1 < fused.front().size(); });
  // Regions and layouts take effect whatever else is fused, so they come first: under the first
  // large set, and by themselves, since one of them may be of no use here.
  if (!others_.empty()) {
    likeliest_ = fused.empty() ? others_ : together(fused.front(), others_);
    if (!fused.empty()) first_.push_back(likeliest_);
    const std::vector<Choices> alone = subsets(others_, others_.size());
    first_.insert(first_.end(), alone.begin(), alone.end());
    for (auto set = fused.begin(); set != small; ++set)
      if (set != fused.begin()) first_.push_back(together(*set, others_));
  }
  first_.insert(first_.end(), fused.begin(), small);
  small_fused_.assign(small, fused.end());
}

ProgramsToLoad FusionJudge::programs_with(const Choices& set) const {
  return programs_to_load(context_, bytes_, flags_of(choices_, set), given_);
}

// Whether splits serve tuning too: the frontend IR of many must not be too much.
bool FusionJudge::keeps_splits() const {
  return bytes_.size() * context_.options.compile_jobs <= plan::kCompileBytesAtOnce;
}

bool FusionJudge::has_region(const Choices& set) const {
  return std::ranges::any_of(set, [&](std::size_t i) {
    return choices_[i].changes == provider::DispatchChange::kRegions;
  });
}

bool FusionJudge::promises_enough(const FusionSet& set) const {
  return set.promise.seconds <= plan::kFusedMayWin * as_it_is_.seconds;
}

trial::ProgramToCompile FusionJudge::program_to_split(const Choices& set) const {
  trial::ProgramToCompile program = programs_with(set).tuned;
  if (!keeps_splits()) program.frontend_flags.reset();
  return program;
}

void FusionJudge::begin_to_split(const std::function<bool(double share)>& has_time) {
  if (!has_time(share_for_first())) return;
  for (const Choices& set : std::span(first_).first(std::min(first_.size(), at_once_)))
    context_.compiler.prefetch_load(program_to_split(set));
  if (!others_.empty()) context_.compiler.prefetch_load(programs_with(likeliest_).reference);
}

// Splits side by side under each of the sets.
Result<std::vector<FusionSet>> FusionJudge::split(std::span<const Choices> sets) {
  std::vector<trial::ProgramToCompile> programs;
  for (const Choices& set : sets) programs.push_back(program_to_split(set));
  HONE_ASSIGN(auto loaded, context_.compiler.load_programs(programs));
  std::vector<FusionSet> found;
  for (std::size_t s = 0; s < sets.size(); ++s) {
    auto& program = loaded[s];
    if (!program || (has_region(sets[s]) && !attention_is_tunable(context_, *program))) continue;
    const FusionPromise promise = promise_of(context_, *program);
    found.push_back({sets[s], promise, dispatches_of(*program), *std::move(program)});
  }
  return found;
}

Result<std::vector<FusionSet>> FusionJudge::sets_that_promise(
    const std::function<bool(double share)>& has_time) {
  std::vector<FusionSet> found;
  // Many at a time, while another split ends within `share` of the time.
  const auto split_all = [&](std::span<const Choices> sets, double share) -> Status {
    while (!sets.empty() && has_time(share)) {
      const std::span<const Choices> next = sets.first(std::min(sets.size(), at_once_));
      sets = sets.subspan(next.size());
      HONE_ASSIGN(std::vector<FusionSet> some, split(next));
      std::ranges::move(some, std::back_inserter(found));
    }
    std::ranges::stable_sort(found, {}, rank);
    return {};
  };
  const std::size_t begun = std::min(first_.size(), at_once_);
  HONE_TRY(split_all(std::span(first_).first(begun), share_for_first()));
  HONE_TRY(split_all(std::span(first_).subspan(begun), plan::kFusionShare));
  const auto is_other = [this](std::size_t choice) {
    return std::ranges::count(others_, choice) > 0;
  };
  const auto fuses = [&](const FusionSet& set) {
    return std::ranges::none_of(set.choices, is_other);
  };
  const auto is_of_others = [&](const FusionSet& set) {
    return std::ranges::all_of(set.choices, is_other);
  };
  std::vector<const FusionSet*> large;
  for (const FusionSet& set : found)
    if (fuses(set)) large.push_back(&set);
  std::vector<Choices> more;
  if (const auto best = std::ranges::find_if(found, is_of_others);
      best != found.end() && best->choices != others_)
    for (const FusionSet* const set :
         std::span(large).first(std::min(large.size(), plan::kFusedTries)))
      more.push_back(together(set->choices, best->choices));
  // Where no large set promises anything, their parts do not either.
  const auto promises = [this](const FusionSet* set) { return promises_enough(*set); };
  if (large.empty() || std::ranges::any_of(large, promises))
    more.insert(more.end(), small_fused_.begin(), small_fused_.end());
  HONE_TRY(split_all(more, others_.empty() ? plan::kFusionShare : 1));
  std::set<std::string> known;
  std::erase_if(found, [&](const FusionSet& set) {
    return !known.insert(set.dispatches).second || !promises_enough(set);
  });
  return found;
}

void FusionJudge::begin_to_load(FusionSet& set) {
  const ProgramsToLoad programs = programs_with(set.choices);
  context_.compiler.prefetch_load(programs.reference);
  if (keeps_splits())
    context_.compiler.keep_loaded(programs.tuned, std::move(set.program));
  else
    context_.compiler.prefetch_load(programs.tuned);
}

}  // namespace hone::tune
