#include "tune/services/deadline.h"

#include <algorithm>
#include <cmath>

#include "plan/policy.h"

namespace hone::tune {
void Deadline::loaded() {
  if (!load_) load_ = watch_.seconds();
}

void Deadline::compiled(double seconds) {
  if (!compile_) compile_ = load_.value_or(0) + seconds;
}

void Deadline::called(double seconds) {
  if (!call_) call_ = seconds;
}

void Deadline::called_again(double seconds) {
  if (!call_again_) call_again_ = std::min(seconds, call());
}

double Deadline::calls(double count, double first) const {
  return first * call() + (count - first) * call_again_.value_or(call());
}

double Deadline::trial() const {
  return next_compile() + calls(plan::kCallsOfTrial, plan::kProcessesOfTrial);
}

double Deadline::trial_with_spec() const {
  return next_with_spec() + calls(plan::kCallsOfTrial, plan::kProcessesOfTrial);
}

void Deadline::compiled_with_spec(double seconds) {
  with_spec_ = std::max(with_spec_, seconds);
}

double Deadline::left() const {
  return budget_ + compile() + call() - watch_.seconds();
}

double Deadline::to_end() const {
  return left() + plan::kOverrunShare * budget_ + plan::kOverrunSeconds;
}

std::optional<double> Deadline::most_compile() const {
  if (!compile_) return std::nullopt;
  const double kept = std::max(to_end() - proof(),
                               plan::kCompileTimesLikeDefault * std::max(*compile_, with_spec_));
  return std::max(
      plan::kLeastJobSeconds,
      std::min({plan::kJobTimesDefault * *compile_ + plan::kJobSecondsMore, kept, to_end()}));
}

std::optional<double> Deadline::most_call() const {
  if (!call_) return std::nullopt;
  return std::max(plan::kLeastJobSeconds,
                  std::min(plan::kJobTimesDefault * *call_ + plan::kJobSecondsMore, to_end()));
}

double Deadline::for_choosing() const {
  return std::max(plan::kLeastJobSeconds, plan::kScreeningShare * (to_end() - with_spec_));
}

double Deadline::for_proving() const {
  return std::max(plan::kLeastJobSeconds, to_end());
}

double Deadline::next_compile() const {
  return plan::kNextCompileShare * compile();
}

double Deadline::next_with_spec() const {
  return std::max(next_compile(), with_spec_);
}

// Includes the frontend: compiled_with_spec() timed the compile from cached frontend IR.
double Deadline::compile_of_proof() const {
  if (proof_compiles_) return 0;
  if (with_spec_ == 0) return plan::kProofCompileShare * compile();
  return with_spec_ + (plan::kNextCompileShare - plan::kProofCompileShare) * compile();
}

double Deadline::proof() const {
  return compile_of_proof() + calls(plan::kCallsOfProof, plan::kProcessesOfProof);
}

double Deadline::later() const {
  return later_search_ + static_cast<double>(later_bases_) * (trial() + trial_with_spec());
}

double Deadline::for_search() const {
  return std::max(0.0, std::min(left(), to_end() - next_compile() - with_spec_ - proof()));
}

double Deadline::sufficient() const {
  constexpr double kStep = 10;
  return std::ceil((plan::kCompilesOfSession * compile() +
                    calls(plan::kCallsOfSession, plan::kCompilesOfSession)) /
                   kStep) *
         kStep;
}

}  // namespace hone::tune
