#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.h"
#include "tune/tuning_run.h"

namespace hone::tune {
namespace {

bool has_winner(const TuningResult& result) {
  return std::ranges::any_of(result.at_sizes, [](const ProgramTuningResult& session) {
    return std::ranges::any_of(session.tuned,
                               [](const TunedDispatch& each) { return each.payload.has_value(); });
  });
}

// Dispatches whose wrong default stays in what ships.
std::set<std::string> still_wrong(const TuningResult& result) {
  std::set<std::string> wrong = result.wrong_by_default;
  if (result.best)
    for (const std::string& repaired : result.best->repairs) wrong.erase(repaired);
  return wrong;
}

// Verdict of a run that proves nothing in the whole program (Options::prove).
RunVerdict of_dispatches(const TuningResult& result) {
  if (has_winner(result)) return {RunOutcome::kFaster, ""};
  for (const ProgramTuningResult& session : result.at_sizes)
    if (!session.tuned.empty()) return {RunOutcome::kNothingFaster, ""};
  std::string reason = "no dispatch was tuned";
  for (const ProgramTuningResult& session : result.at_sizes)
    if (!session.not_tuned.empty())
      return {RunOutcome::kNothingUsable,
              fmt::format("{}: {}", reason, reason_of(session.not_tuned.front().reason))};
  return {RunOutcome::kNothingUsable, reason};
}

// Says that outputs cannot tell right from wrong, and names the dispatches that could not be
// verified either.
std::string unchecked(const TuningResult& result) {
  return fmt::format("the program's outputs cannot be verified ({}), nor can these dispatches: {}",
                     result.unchecked_outputs, fmt::join(result.unverified_dispatches, ", "));
}

// Reason why a seemingly faster candidate could not be proved; empty if the rounds show that it is
// not faster.
std::string why_not_proved(const TuningResult& result) {
  if (!result.candidate) return "";
  if (!result.verdict)
    return fmt::format("'{}' seemed faster, but no time was left to prove it",
                       result.candidate->label);
  if (!result.unverified_dispatches.empty() && result.verdict->recommended != Recommended::kDefault)
    return fmt::format("'{}' is faster, but {}", result.candidate->label, unchecked(result));
  for (const measure::PairedComparison& each : result.verdict->chosen.at_sizes)
    if (each.too_few)
      return fmt::format("'{}' seemed faster, but only {} rounds fit into the budget",
                         result.candidate->label, each.rounds);
  return "";
}

// Verdict on a program whose default works.
RunVerdict of_working_default(const TuningResult& result) {
  if (!result.whole_program) return of_dispatches(result);
  if (!result.best)
    return {RunOutcome::kNotProved,
            result.not_proved.empty() ? "the program was not called" : result.not_proved};
  if (const std::set<std::string> wrong = still_wrong(result); !wrong.empty())
    return {RunOutcome::kNotProved,
            fmt::format("the compiler's code of {} is wrong, and no correct candidate was found",
                        fmt::join(wrong, ", "))};
  if (!result.best->repairs.empty())
    return {RunOutcome::kRepaired,
            fmt::format("the compiler's code of {} is wrong; the shipped kernels are correct",
                        fmt::join(result.best->repairs, ", "))};
  if (!result.not_proved.empty()) return {RunOutcome::kNotProved, result.not_proved};
  if (result.best->flags.empty() && !result.best->uses_spec())
    return {RunOutcome::kNothingFaster, why_not_proved(result)};
  if (!result.unverified_dispatches.empty()) return {RunOutcome::kNotProved, unchecked(result)};
  return {RunOutcome::kFaster, ""};
}

// Verdict on a program that the flags `label` repair; `then`: what came of it with them.
RunVerdict of_repaired(const TuningResult& result, const std::string& label,
                       const RunVerdict& then) {
  const std::string works = fmt::format("{}; with {} it works", result.default_failure, label);
  if (exit_code(then) != 0) return {then.outcome, fmt::format("{}, but {}", works, then.reason)};
  const bool more = then.outcome == RunOutcome::kRepaired && !then.reason.empty();
  return {RunOutcome::kRepaired, more ? fmt::format("{}; {}", works, then.reason) : works};
}

}  // namespace

RunVerdict verdict_of(const TuningResult& result) {
  if (result.default_failure.empty()) return of_working_default(result);
  if (!result.repaired_by.empty())
    return of_repaired(result, result.repaired_by, of_working_default(result));
  if (!result.best) return {RunOutcome::kNothingUsable, result.default_failure};
  const RunOutcome then =
      result.not_proved.empty() ? RunOutcome::kRepaired : RunOutcome::kNotProved;
  return of_repaired(result, result.best->label, {then, result.not_proved});
}

}  // namespace hone::tune
