#include "tune/program/fusion_sets.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <set>
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
  std::vector<std::size_t> fusing;
  for (std::size_t i = 0; i < choices.size(); ++i)
    if (choices[i].fuses) fusing.push_back(i);
  const std::vector<std::vector<std::size_t>> sets = subsets(fusing, plan::kFlagsFusedTogether);
  const std::size_t at_once = std::max<std::size_t>(1, context.options.compile_jobs);
  std::vector<FusionSet> found;
  for (std::size_t begin = 0, end = 0; begin < sets.size() && !is_over(found); begin = end) {
    end = std::min(sets.size(), begin + at_once);
    // The largest come first and alone: if none of them is of use, the others are not needed.
    while (begin == 0 && end > 1 && sets[end - 1].size() + 1 < sets.front().size()) --end;
    std::vector<trial::ProgramToCompile> programs;
    for (std::size_t s = begin; s < end; ++s) {
      std::vector<std::string> flags = context.flags();
      for (const std::size_t choice : sets[s])
        flags = joined(std::move(flags), choices[choice].flags);
      programs.push_back({context.options.input, bytes, std::move(flags)});
    }
    HONE_ASSIGN(const auto loaded, context.compiler.load_programs(programs));
    for (std::size_t s = begin; s < end; ++s)
      if (const auto& program = loaded[s - begin])
        found.push_back({sets[s], promise_of(context, *program), dispatches_of(*program)});
  }
  std::ranges::stable_sort(found, {}, rank);
  std::set<std::string> known;
  std::erase_if(found, [&](const FusionSet& set) { return !known.insert(set.dispatches).second; });
  return found;
}

}  // namespace hone::tune
