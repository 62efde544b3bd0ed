#include "tune/services/run_verdict.h"

namespace hone::tune {

std::string_view name_of(RunOutcome outcome) {
  switch (outcome) {
    case RunOutcome::kFaster:
      return "faster";
    case RunOutcome::kRepaired:
      return "repaired";
    case RunOutcome::kNothingFaster:
      return "nothing faster";
    case RunOutcome::kCompiled:
      return "compiled";
    case RunOutcome::kNotProved:
      return "not proved";
    case RunOutcome::kNothingUsable:
      break;
  }
  return "nothing usable";
}

int exit_code(const RunVerdict& verdict) {
  const bool is_usable =
      verdict.outcome == RunOutcome::kFaster || verdict.outcome == RunOutcome::kRepaired ||
      verdict.outcome == RunOutcome::kNothingFaster || verdict.outcome == RunOutcome::kCompiled;
  return is_usable ? 0 : 1;
}

std::string last_line(const RunVerdict& verdict) {
  switch (verdict.outcome) {
    case RunOutcome::kFaster:
    case RunOutcome::kCompiled:
      return "";
    case RunOutcome::kRepaired:
      return "Repaired: " + verdict.reason + "\n";
    case RunOutcome::kNothingFaster:
      return verdict.reason.empty()
                 ? "Nothing faster was found: the default is the best of what was tried.\n"
                 : "Nothing faster was proved: " + verdict.reason + "\n";
    case RunOutcome::kNotProved:
      return "NOT PROVED: " + verdict.reason + "\n";
    case RunOutcome::kNothingUsable:
      break;
  }
  return "NOTHING USABLE: " + verdict.reason + "\n";
}

RunVerdict on_emulator(RunVerdict verdict) {
  if (verdict.outcome != RunOutcome::kFaster && verdict.outcome != RunOutcome::kRepaired)
    return verdict;
  return {RunOutcome::kNotProved,
          "the device is an emulator, whose times are no GPU's: tune again on one"};
}

}  // namespace hone::tune
