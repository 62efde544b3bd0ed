// Which dispatches of a program a command is about.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "problem/dispatch.h"
#include "provider/provider.h"
#include "tune/services/observer.h"

namespace hone::tune {

struct NotTuned {
  std::string dispatch;
  std::string reason;
  double share = 0;  // of the dispatches' time, 0 to 1, where it could have been tuned
};

inline constexpr std::string_view kRunsAtLoadOnly = "it runs once, when the module is loaded";
// Why no call launches it, as calls do others: it makes a constant, or is another function's than
// the one that is called. Empty where a call does.
std::string why_not_launched(const problem::Program& program, const problem::Dispatch& dispatch);

// From here on launches are those of this function, which dispatches are tuned for.
void count_launches_in(const std::string& function, problem::Program& program);

// The dispatches that one of `patterns` means (a name, else shell-like or whole words of names, as
// "dispatch_47"; none: all) and that can be tuned; the others of those go to `not_tuned`, and
// without patterns those that no call launches.
// Errors: input for a pattern that matches nothing
// (with the nearest names), failure when nothing is left (with the reasons).
Result<std::vector<const problem::Dispatch*>> select_dispatches(
    const problem::Program& program, const std::vector<std::string>& patterns,
    std::vector<NotTuned>& not_tuned);

// Says of each provider whose kernels can take the place of none of these dispatches that it is so,
// with the reasons: its user wonders otherwise why it is never tried.
void note_kernels_without_use(const std::vector<const provider::Provider*>& replacing,
                              const std::vector<const problem::Dispatch*>& dispatches,
                              Observer& observer);

// The one dispatch that `wanted` means: by its number in the program, or as select_dispatches'
// patterns do. An input error with what there is otherwise.
Result<const problem::Dispatch*> find_dispatch(const problem::Program& program,
                                               const std::string& wanted);

}  // namespace hone::tune
