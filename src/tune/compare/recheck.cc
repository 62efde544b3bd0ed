#include "tune/compare/recheck.h"

#include "base/stopwatch.h"
#include "tune/program/program_calls.h"

namespace hone::tune {
namespace {

constexpr double kSampleSeconds = 0.1;
// Slowdowns that rounds are added for, as in hone compare.
constexpr double kFind = 0.02;
constexpr std::size_t kMostRounds = 120;

SpeedState state_of(const measure::PairedComparison& comparison, double proved_low) {
  if (comparison.verdict == measure::Verdict::kFaster) return SpeedState::kStillFaster;
  if (comparison.verdict == measure::Verdict::kSlower) return SpeedState::kNoLongerFaster;
  const bool is_below = !comparison.too_few && 1 / comparison.interval.low < proved_low;
  return is_below ? SpeedState::kNoLongerFaster : SpeedState::kUndecided;
}

}  // namespace

Result<std::vector<measure::Comparison>> recheck_outputs(
    const provider::ProgramRuntime& runtime, const provider::ProgramCall& call,
    const std::vector<problem::Array>& references,
    const std::vector<measure::Tolerance>& tolerances) {
  HONE_ASSIGN(const std::vector<problem::Array> outputs, runtime.run(call, references.size()));
  if (outputs.size() != references.size())
    return input_error("'{}' returns {} results, and the proof has {}", call.module.string(),
                       outputs.size(), references.size());
  std::vector<measure::Comparison> compared;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    HONE_ASSIGN(compared.emplace_back(),
                measure::compare(outputs[i], references[i], tolerances.at(i)));
  }
  return compared;
}

std::string_view name_of(SpeedState state) {
  switch (state) {
    case SpeedState::kStillFaster:
      return "still faster";
    case SpeedState::kNoLongerFaster:
      return "no longer faster";
    case SpeedState::kUndecided:
      return "undecided";
  }
  return "";
}

Result<RecheckedSpeed> recheck_speed(const provider::ProgramRuntime& runtime,
                                     const SpeedRequest& request, Observer& observer) {
  const Stopwatch watch;
  const std::size_t stage = measure::fewest_rounds(request.statistics.alpha);
  std::vector<double> baseline, shipped;
  RecheckedSpeed speed;
  while (baseline.size() + stage <= kMostRounds) {
    const double left = request.seconds - watch.seconds();
    if (left <= 0) break;
    HONE_ASSIGN(const auto rounds, time_rounds(runtime, {request.baseline, request.shipped},
                                               {.rounds = stage,
                                                .seconds = kSampleSeconds,
                                                .seed = request.seed + baseline.size(),
                                                .most_seconds = left},
                                               observer));
    for (const std::vector<double>& round : rounds) {
      baseline.push_back(round[0]);
      shipped.push_back(round[1]);
    }
    HONE_ASSIGN(speed.comparison, measure::compare_paired(baseline, shipped, request.statistics));
    if (!speed.comparison.too_few &&
        !measure::needs_more_rounds(speed.comparison, kFind, request.statistics))
      break;
    if (rounds.size() < stage) break;
  }
  speed.state = state_of(speed.comparison, request.proved_low);
  return speed;
}

}  // namespace hone::tune
