#include "tune/program/fusion_sets.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <set>
#include <span>
#include <tuple>

#include "base/hash.h"
#include "plan/policy.h"
#include "tune/dispatch/dispatch_weight.h"

namespace hone::tune {
namespace {

// All sets of some of these numbers, the largest first.
std::vector<std::vector<std::size_t>> subsets(const std::vector<std::size_t>& numbers,
                                              std::size_t most) {
  std::vector<std::vector<std::size_t>> sets;
  for (std::uint64_t chosen = 1; chosen < std::uint64_t{1} << numbers.size(); ++chosen) {
    if (static_cast<std::size_t>(std::popcount(chosen)) > most) continue;
    std::vector<std::size_t>& set = sets.emplace_back();
    for (std::size_t i = 0; i < numbers.size(); ++i)
      if ((chosen >> i & 1) != 0) set.push_back(numbers[i]);
  }
  std::ranges::stable_sort(sets, std::greater(), &std::vector<std::size_t>::size);
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

auto rank(const FusionSet& set) {
  return std::tuple(set.promise.seconds, set.promise.launches, set.choices.size());
}

}  // namespace

FusionPromise promise_of(const Context& context, const problem::Program& program) {
  FusionPromise promise;
  for (const problem::Dispatch& dispatch : program.dispatches) {
    promise.launches += dispatch.launches_per_call;
    promise.seconds += estimated_weight(context, dispatch).share;
  }
  promise.seconds += promise.launches * context.options.place().facts.launch_seconds;
  return promise;
}

Result<std::vector<FusionSet>> fusion_sets(
    Context& context, const std::string& bytes, const std::vector<provider::FlagChoice>& choices,
    const std::function<bool(const std::vector<FusionSet>&)>& is_over) {
  std::vector<std::size_t> by_rules, regions;
  for (std::size_t i = 0; i < choices.size(); ++i)
    if (choices[i].fuses) (choices[i].is_region ? regions : by_rules).push_back(i);
  const auto has_region = [&](const std::vector<std::size_t>& set) {
    return std::ranges::any_of(set, [&](std::size_t i) { return choices[i].is_region; });
  };
  std::vector<FusionSet> found;
  const auto split = [&](std::span<const std::vector<std::size_t>> sets) -> Status {
    std::vector<trial::ProgramToCompile> programs;
    for (const std::vector<std::size_t>& set : sets) {
      std::vector<std::string> flags = context.flags();
      for (const std::size_t choice : set) flags = joined(std::move(flags), choices[choice].flags);
      programs.push_back({context.options.input, bytes, std::move(flags)});
    }
    HONE_ASSIGN(const auto loaded, context.compiler.load_programs(programs));
    for (std::size_t s = 0; s < sets.size(); ++s) {
      const auto& program = loaded[s];
      if (!program || (has_region(sets[s]) && !attention_is_tunable(context, *program))) continue;
      found.push_back({sets[s], promise_of(context, *program), dispatches_of(*program)});
    }
    std::ranges::stable_sort(found, {}, rank);
    return {};
  };
  const std::vector<std::vector<std::size_t>> sets = subsets(by_rules, plan::kFlagsFusedTogether);
  const std::size_t at_once = std::max<std::size_t>(1, context.options.compile_jobs);
  for (std::span<const std::vector<std::size_t>> left = sets; !left.empty() && !is_over(found);) {
    std::size_t next = std::min(left.size(), at_once);
    // The largest come first and alone: if none of them is of use, the others are not needed.
    if (left.size() == sets.size())
      while (next > 1 && left[next - 1].size() + 1 < left.front().size()) --next;
    HONE_TRY(split(left.first(next)));
    left = left.subspan(next);
  }
  // Regions take launches away whatever else is fused.
  std::vector<std::vector<std::size_t>> with_regions;
  for (const std::size_t region : regions) {
    with_regions.push_back({region});
    for (const FusionSet& best :
         std::span(found).first(std::min(found.size(), plan::kFusedTries))) {
      with_regions.push_back(best.choices);
      with_regions.back().push_back(region);
    }
  }
  if (!with_regions.empty()) HONE_TRY(split(with_regions));
  std::set<std::string> known;
  std::erase_if(found, [&](const FusionSet& set) { return !known.insert(set.dispatches).second; });
  return found;
}

}  // namespace hone::tune
