// Selects the dispatches that a command applies to.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "problem/dispatch.h"
#include "provider/provider.h"
#include "tune/services/context.h"

namespace hone::tune {

struct NotTuned {
  std::string dispatch;
  std::string reason;
  double share = 0;  // of the dispatches' time, 0 to 1, where it could have been tuned
};

inline constexpr std::string_view kRunsAtLoadOnly = "it runs once, when the module is loaded";
// Returns why no call launches the dispatch: it makes a constant, or belongs to another function
// than the called one. Empty if a call does.
std::string why_not_launched(const problem::Program& program, const problem::Dispatch& dispatch);

// Sets the launch counts to those of this function, which dispatches are then tuned for.
void count_launches_in(const std::string& function, problem::Program& program);

// Returns the tunable dispatches that one of `patterns` matches. A pattern is a name, a shell-like
// pattern, or whole words of a name ("dispatch_47"); no patterns match all dispatches.
// Matching dispatches that cannot be tuned go to `not_tuned`, and without patterns also those that
// no call launches.
// Errors: input for a pattern that matches nothing (with the nearest names), failure when nothing
// is left (with the reasons).
Result<std::vector<const problem::Dispatch*>> select_dispatches(
    const problem::Program& program, const std::vector<std::string>& patterns,
    std::vector<NotTuned>& not_tuned);

// Notes each provider whose kernels can replace none of these dispatches, with the reasons. Its
// user would otherwise wonder why it is never tried.
void note_kernels_without_use(const std::vector<const provider::Provider*>& replacing,
                              const std::vector<const problem::Dispatch*>& dispatches,
                              Observer& observer);

// Finds the only dispatch that `wanted` means: its number in the program, or a pattern as in
// select_dispatches(). Otherwise an input error that lists the matches, or all dispatches.
Result<const problem::Dispatch*> find_dispatch(const problem::Program& program,
                                               const std::string& wanted);

}  // namespace hone::tune
