#include "tune/services/deadline.h"

#include <algorithm>
#include <cmath>

namespace hone::tune {
namespace {

// Overrun allowed beyond the budget: a quarter of it and 45 s. The promise is 60 s; stopping a job
// and writing the results take the rest.
constexpr double kBeyond = 0.25, kSecondsBeyond = 45;
// Limit of a compile or a call: 8x the default's plus 10 s. A slower build tells nothing that a
// user would wait for.
constexpr double kTimesDefault = 8, kSecondsMore = 10;
// Limit of a compile that resembles the default's or a spec's: 2x the longest of these. It may use
// the time that is kept for the proof.
constexpr double kTimesLikeDefault = 2;
// Shortest limit of a job, in seconds. A shorter one would only stop the job.
constexpr double kLeastLimit = 2;
// Share of the remaining time for screening rounds. Proof rounds keep the larger part.
constexpr double kChoosing = 0.4;
// Shares of the default's compile time, which the splitting of the program beside it lengthens.
// kNextCompile: a compile by itself. kCompileOfProof: a compile from a cached front half, as in the
// proof.
constexpr double kNextCompile = 0.7, kCompileOfProof = 0.5;
// Program calls of a trial, and the processes that make them.
constexpr double kCallsOfTrial = 6, kProcessesOfTrial = 3;
// Program calls of a proof, and their processes. Two builds run as many rounds as a verdict takes,
// in one process; the outputs of each are computed too.
constexpr double kCallsOfProof = 16, kProcessesOfProof = 5;
// Compiles and calls of the program in a whole session: flags, dispatches and proof.
constexpr double kCompilesOfAll = 12, kCallsOfAll = 200;

}  // namespace

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
  return next_compile() + calls(kCallsOfTrial, kProcessesOfTrial);
}

double Deadline::trial_with_spec() const {
  return next_with_spec() + calls(kCallsOfTrial, kProcessesOfTrial);
}

void Deadline::compiled_with_spec(double seconds) {
  with_spec_ = std::max(with_spec_, seconds);
}

double Deadline::left() const {
  return budget_ + compile() + call() - watch_.seconds();
}

double Deadline::to_end() const {
  return left() + kBeyond * budget_ + kSecondsBeyond;
}

std::optional<double> Deadline::most_compile() const {
  if (!compile_) return std::nullopt;
  const double kept =
      std::max(to_end() - proof(), kTimesLikeDefault * std::max(*compile_, with_spec_));
  return std::max(kLeastLimit,
                  std::min({kTimesDefault * *compile_ + kSecondsMore, kept, to_end()}));
}

std::optional<double> Deadline::most_call() const {
  if (!call_) return std::nullopt;
  return std::max(kLeastLimit, std::min(kTimesDefault * *call_ + kSecondsMore, to_end()));
}

double Deadline::for_choosing() const {
  return std::max(kLeastLimit, kChoosing * (to_end() - with_spec_));
}

double Deadline::for_proving() const {
  return std::max(kLeastLimit, to_end());
}

double Deadline::next_compile() const {
  return kNextCompile * compile();
}

double Deadline::next_with_spec() const {
  return std::max(next_compile(), with_spec_);
}

// Includes the front half: compiled_with_spec() timed the compile from a cached one.
double Deadline::compile_of_proof() const {
  if (with_spec_ == 0) return kCompileOfProof * compile();
  return with_spec_ + (kNextCompile - kCompileOfProof) * compile();
}

double Deadline::proof() const {
  return compile_of_proof() + calls(kCallsOfProof, kProcessesOfProof);
}

double Deadline::later() const {
  return later_search_ + static_cast<double>(later_bases_) * (trial() + trial_with_spec());
}

double Deadline::for_search() const {
  return std::max(0.0, std::min(left(), to_end() - next_compile() - with_spec_ - proof()));
}

double Deadline::sufficient() const {
  constexpr double kStep = 10;
  return std::ceil((kCompilesOfAll * compile() + calls(kCallsOfAll, kCompilesOfAll)) / kStep) *
         kStep;
}

}  // namespace hone::tune
