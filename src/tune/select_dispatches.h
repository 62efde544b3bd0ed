// Which dispatches of a program a command is about.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "problem/dispatch.h"
#include "provider/program_provider.h"

namespace hone::tune {

struct NotTuned {
  std::string dispatch;
  std::string reason;
};

// The dispatches whose name matches one of `patterns` (shell-like; none: all) and that can be
// tuned; the others of those go to `not_tuned`. Errors: input for a pattern that matches nothing
// (with the nearest names), failure when nothing is left (with the reasons).
Result<std::vector<const problem::Dispatch*>> select_dispatches(
    const problem::Program& program, const std::vector<std::string>& patterns,
    std::vector<NotTuned>& not_tuned);

// The one dispatch that `wanted` names: its number in the program, its name, or a pattern that only
// its name matches. An input error with what there is otherwise.
Result<const problem::Dispatch*> find_dispatch(const problem::Program& program,
                                               const std::string& wanted);

// Whether hone can make arguments for it, and compare what it returns.
bool is_callable(const problem::Function& function);
// The function called `wanted`, or with an empty name the first, that is; nothing where none is.
const problem::Function* callable_function(const problem::Program& program,
                                           const std::string& wanted);
// Why no function of the program is (`wanted` names one; empty: any will do), in words.
std::string why_none_is_callable(const provider::ProgramProvider& provider,
                                 const problem::Program& program, const std::string& wanted = {});

}  // namespace hone::tune
