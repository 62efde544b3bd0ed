#include "tune/select_dispatches.h"

#include <algorithm>

#include "base/text.h"

namespace hone::tune {
namespace {

bool matches_any(const std::string& name, const std::vector<std::string>& patterns) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& pattern) { return matches_pattern(name, pattern); });
}

}  // namespace

Result<std::vector<const problem::Dispatch*>> select_dispatches(
    const problem::Program& program, const std::vector<std::string>& patterns,
    std::vector<NotTuned>& not_tuned) {
  std::vector<std::string> names;
  for (const problem::Dispatch& dispatch : program.dispatches) names.push_back(dispatch.name);
  for (const std::string& pattern : patterns)
    if (std::none_of(names.begin(), names.end(),
                     [&](const std::string& name) { return matches_pattern(name, pattern); }))
      return input_error("no dispatch of '{}' matches '{}'{}; there are: {}", program.path, pattern,
                         did_you_mean(pattern, names), fmt::join(names, ", "));
  std::vector<const problem::Dispatch*> chosen;
  for (const problem::Dispatch& dispatch : program.dispatches) {
    if (!patterns.empty() && !matches_any(dispatch.name, patterns)) continue;
    if (dispatch.not_tunable.empty())
      chosen.push_back(&dispatch);
    else
      not_tuned.push_back({dispatch.name, dispatch.not_tunable});
  }
  if (!chosen.empty()) return chosen;
  std::string reasons;
  for (const NotTuned& dispatch : not_tuned)
    reasons += fmt::format("\n  {}: {}", dispatch.dispatch, dispatch.reason);
  return failure("nothing in '{}' can be tuned{}", program.path,
                 reasons.empty() ? ": it has no dispatches" : ":" + reasons);
}

}  // namespace hone::tune
