#include "tune/program/fusion_sets.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <ranges>
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
  if (!stated || (*stated)->attends()) return 1;
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

bool goes_with_fusion(const provider::FlagChoice& choice) {
  return choice.forms == provider::Forms::kRegions || choice.forms == provider::Forms::kLayouts;
}

Result<std::vector<FusionSet>> fusion_sets(
    Context& context, const std::vector<provider::FlagChoice>& choices,
    const std::function<trial::ProgramToCompile(const Choices& set)>& to_load,
    const std::function<bool(double share)>& has_time,
    const std::function<bool(const FusionSet&)>& promises) {
  Choices fusing, others;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (choices[i].forms == provider::Forms::kFusion) fusing.push_back(i);
    if (goes_with_fusion(choices[i])) others.push_back(i);
  }
  const auto has_region = [&](const Choices& set) {
    return std::ranges::any_of(
        set, [&](std::size_t i) { return choices[i].forms == provider::Forms::kRegions; });
  };
  std::vector<FusionSet> found;
  // Many at a time, while another split ends within `share` of the time.
  const bool is_long = context.state->deadline.next_compile() >= plan::kLongSplitSeconds;
  const std::size_t at_once =
      std::max<std::size_t>(1, context.options.compile_jobs / (is_long ? 2 : 1));
  const auto split = [&](std::span<const Choices> sets, double share) -> Status {
    while (!sets.empty() && has_time(share)) {
      const std::span<const Choices> next = sets.first(std::min(sets.size(), at_once));
      sets = sets.subspan(next.size());
      std::vector<trial::ProgramToCompile> programs;
      for (const Choices& set : next) programs.push_back(to_load(set));
      HONE_ASSIGN(auto loaded, context.compiler.load_programs(programs));
      for (std::size_t s = 0; s < next.size(); ++s) {
        auto& program = loaded[s];
        if (!program || (has_region(next[s]) && !attention_is_tunable(context, *program))) continue;
        const FusionPromise promise = promise_of(context, *program);
        found.push_back({next[s], promise, dispatches_of(*program), *std::move(program)});
      }
    }
    std::ranges::stable_sort(found, {}, rank);
    return {};
  };
  const std::vector<Choices> sets = subsets(fusing, plan::kFlagsFusedTogether);
  const auto small = std::ranges::find_if(
      sets, [&](const Choices& set) { return set.size() + 1 < sets.front().size(); });
  std::vector<Choices> first = subsets(others, others.size());
  first.insert(first.end(), sets.begin(), small);
  const std::size_t begun = std::min(first.size(), at_once);
  HONE_TRY(split(std::span(first).first(begun),
                 others.empty() ? plan::kFusionShare : plan::kLayoutShare));
  HONE_TRY(split(std::span(first).subspan(begun), plan::kFusionShare));
  const auto fuses = [&](const FusionSet& set) {
    return !goes_with_fusion(choices[set.choices.front()]);
  };
  std::vector<Choices> more;
  if (const auto best = std::ranges::find_if_not(found, fuses); best != found.end())
    for (const FusionSet& each :
         found | std::views::filter(fuses) | std::views::take(plan::kFusedTries)) {
      more.push_back(each.choices);
      more.back().insert(more.back().end(), best->choices.begin(), best->choices.end());
    }
  // Where no large set promises anything, their parts do not either.
  auto large = found | std::views::filter(fuses);
  if (large.empty() || std::ranges::any_of(large, promises))
    more.insert(more.end(), small, sets.end());
  HONE_TRY(split(more, others.empty() ? plan::kFusionShare : 1));
  std::set<std::string> known;
  std::erase_if(found, [&](const FusionSet& set) { return !known.insert(set.dispatches).second; });
  return found;
}

}  // namespace hone::tune
