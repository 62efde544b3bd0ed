#include "tune/services/select_dispatches.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <span>

#include "base/text.h"

namespace hone::tune {
namespace {

bool matches_any(const std::string& name, const std::vector<std::string>& patterns) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& pattern) { return matches_pattern(name, pattern); });
}

// A message names only the first of many: a command lists the rest.
std::string first_of(const std::vector<std::string>& names, const char* between = ", ") {
  constexpr std::size_t kMost = 12;
  const std::span some(names.begin(), std::min(kMost, names.size()));
  const std::string all = fmt::format("{}", fmt::join(some, between));
  if (names.size() <= kMost) return all;
  return fmt::format("{} and {} more (hone dispatches)", all, names.size() - kMost);
}

}  // namespace

bool runs_at_load_only(const problem::Program& program, const problem::Dispatch& dispatch) {
  return dispatch.launches_per_call == 0 &&
         std::ranges::any_of(program.dispatches, [](const problem::Dispatch& each) {
           return each.launches_per_call > 0;
         });
}

Result<std::vector<const problem::Dispatch*>> select_dispatches(
    const problem::Program& program, const std::vector<std::string>& patterns,
    std::vector<NotTuned>& not_tuned) {
  std::vector<std::string> names;
  for (const problem::Dispatch& dispatch : program.dispatches) names.push_back(dispatch.name);
  for (const std::string& pattern : patterns)
    if (std::none_of(names.begin(), names.end(),
                     [&](const std::string& name) { return matches_pattern(name, pattern); }))
      return input_error("no dispatch of '{}' matches '{}'{}; there are: {}", program.path, pattern,
                         did_you_mean(pattern, names), first_of(names));
  std::vector<const problem::Dispatch*> chosen;
  for (const problem::Dispatch& dispatch : program.dispatches) {
    if (!patterns.empty() && !matches_any(dispatch.name, patterns)) continue;
    if (!dispatch.not_tunable.empty())
      not_tuned.push_back({dispatch.name, dispatch.not_tunable});
    else if (patterns.empty() && runs_at_load_only(program, dispatch))
      not_tuned.push_back({dispatch.name, std::string(kRunsAtLoadOnly)});
    else
      chosen.push_back(&dispatch);
  }
  if (!chosen.empty()) return chosen;
  std::string reasons;
  for (const NotTuned& dispatch : not_tuned)
    reasons += fmt::format("\n  {}: {}", dispatch.dispatch, dispatch.reason);
  return failure("nothing in '{}' can be tuned{}", program.path,
                 reasons.empty() ? ": it has no dispatches" : ":" + reasons);
}

void note_kernels_without_use(const std::vector<const provider::Provider*>& replacing,
                              const std::vector<const problem::Dispatch*>& dispatches,
                              Observer& observer) {
  for (const provider::Provider* const each : replacing) {
    std::vector<std::string> reasons;  // each once, with the first dispatch that has it
    std::set<std::string> seen;
    bool is_of_use = false;
    for (const problem::Dispatch* const dispatch : dispatches) {
      const std::string reason = each->why_no_space(*dispatch);
      is_of_use |= reason.empty();
      if (seen.insert(reason).second)
        reasons.push_back(fmt::format("{}: {}", dispatch->name, reason));
    }
    if (!is_of_use)
      observer.note(fmt::format("{} is for no dispatch of the program: {}", each->name(),
                                first_of(reasons, "; ")));
  }
}

Result<const problem::Dispatch*> find_dispatch(const problem::Program& program,
                                               const std::string& wanted) {
  std::size_t index = 0;
  const char* const end = wanted.data() + wanted.size();
  const auto [used, error] = std::from_chars(wanted.data(), end, index);
  if (error == std::errc() && used == end) {
    if (index < program.dispatches.size()) return &program.dispatches[index];
    return input_error("there is no dispatch {} in '{}', which has {}, numbered from 0", index,
                       program.path, program.dispatches.size());
  }
  std::vector<std::string> names;
  std::vector<const problem::Dispatch*> matching;
  for (const problem::Dispatch& dispatch : program.dispatches) {
    if (dispatch.name == wanted) return &dispatch;
    if (matches_pattern(dispatch.name, wanted)) matching.push_back(&dispatch);
    names.push_back(dispatch.name);
  }
  if (matching.size() == 1) return matching.front();
  return input_error("{} of '{}' {} '{}'{}; there are: {}",
                     matching.empty() ? "no dispatch" : "more than one dispatch", program.path,
                     matching.empty() ? "is called" : "matches", wanted,
                     did_you_mean(wanted, names), fmt::join(names, ", "));
}

}  // namespace hone::tune
