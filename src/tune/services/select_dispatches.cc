#include "tune/services/select_dispatches.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <span>

#include "base/ranges.h"
#include "base/text.h"

namespace hone::tune {
namespace {

// Whether `name` contains `words` as whole words: "dispatch_4" is in "main_dispatch_4_matmul", not
// in "main_dispatch_47_matmul".
bool has_words(std::string_view name, std::string_view words) {
  const auto is_between = [&](std::size_t at) {
    return at == 0 || at >= name.size() || name[at] == '_' || name[at] == '$' ||
           name[at - 1] == '_' || name[at - 1] == '$';
  };
  for (std::size_t at = name.find(words); !words.empty() && at != std::string_view::npos;
       at = name.find(words, at + 1))
    if (is_between(at) && is_between(at + words.size())) return true;
  return false;
}

std::vector<std::string> names_of(const problem::Program& program) {
  return mapped(program.dispatches, &problem::Dispatch::name);
}

// Names that `wanted` matches: itself if it is one, else all that match it.
std::vector<std::string> names_meant(const std::vector<std::string>& names,
                                     const std::string& wanted) {
  if (std::ranges::count(names, wanted) > 0) return {wanted};
  std::vector<std::string> meant;
  for (const std::string& name : names)
    if (matches_pattern(name, wanted) || has_words(name, wanted)) meant.push_back(name);
  return meant;
}

// Messages name only the first few; a command lists the rest.
std::string first_of(const std::vector<std::string>& names, const char* between = ", ") {
  constexpr std::size_t kMost = 12;
  const std::span some(names.begin(), std::min(kMost, names.size()));
  const std::string all = fmt::format("{}", fmt::join(some, between));
  if (names.size() <= kMost) return all;
  return fmt::format("{} and {} more (hone dispatches)", all, names.size() - kMost);
}

}  // namespace

std::string why_not_launched(const problem::Program& program, const problem::Dispatch& dispatch) {
  const bool is_launched = dispatch.launches_per_call > 0 ||
                           std::ranges::all_of(program.dispatches, [](const auto& each) {
                             return each.launches_per_call == 0;
                           });
  if (is_launched) return "";
  if (dispatch.launched_by.empty()) return std::string(kRunsAtLoadOnly);
  if (dispatch.launches_vary &&
      (program.called.empty() || dispatch.launched_by.contains(program.called)))
    return "a call with these inputs never launches it: a branch is not taken, or a loop has no "
           "turn (--input gives other values)";
  return fmt::format("'{}', which is called, does not launch it: it is of '{}'", program.called,
                     dispatch.launched_by.begin()->first);
}

void count_launches_in(const std::string& function, problem::Program& program) {
  program.called = function;
  for (problem::Dispatch& dispatch : program.dispatches) {
    const auto* const launches = value_at(dispatch.launched_by, function);
    dispatch.launches_per_call = launches == nullptr ? 0 : *launches;
  }
}

Result<std::vector<const problem::Dispatch*>> select_dispatches(
    const problem::Program& program, const std::vector<std::string>& patterns,
    std::vector<NotTuned>& not_tuned) {
  const std::vector<std::string> names = names_of(program);
  std::set<std::string> wanted;
  for (const std::string& pattern : patterns) {
    const std::vector<std::string> meant = names_meant(names, pattern);
    if (meant.empty())
      return input_error("no dispatch of '{}' matches '{}'{}; there are: {}", program.path, pattern,
                         did_you_mean(pattern, names), first_of(names));
    wanted.insert(meant.begin(), meant.end());
  }
  std::vector<const problem::Dispatch*> chosen;
  for (const problem::Dispatch& dispatch : program.dispatches) {
    if (!patterns.empty() && !wanted.contains(dispatch.name)) continue;
    if (!dispatch.not_tunable.empty())
      not_tuned.push_back({dispatch.name, dispatch.not_tunable});
    else if (const std::string why = why_not_launched(program, dispatch);
             patterns.empty() && !why.empty())
      not_tuned.push_back({dispatch.name, why});
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
      observer.warn(fmt::format("{} is for no dispatch of the program: {}", each->name(),
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
  const std::vector<std::string> names = names_of(program);
  const std::vector<std::string> meant = names_meant(names, wanted);
  if (meant.empty())
    return input_error("no dispatch of '{}' is called '{}'{}; there are: {}", program.path, wanted,
                       did_you_mean(wanted, names), first_of(names));
  if (meant.size() > 1)
    return input_error("more than one dispatch of '{}' matches '{}': {}", program.path, wanted,
                       first_of(meant));
  return &*std::ranges::find(program.dispatches, meant.front(), &problem::Dispatch::name);
}

}  // namespace hone::tune
