#include "tune/services/session_steps.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "plan/policy.h"

namespace hone::tune {
namespace {

Status record_time(Context& context) {
  nlohmann::json rows = nlohmann::json::array();
  for (const trial::TimeRow& row : context.state->time.rows())
    rows.push_back(
        {{"of", row.of}, {"phase", row.phase}, {"count", row.count}, {"seconds", row.seconds}});
  HONE_TRY(context.store.log_event("time budget", rows.dump()));
  for (const worker::JobTime& job : context.compiler.take_job_times()) context.state->time.add(job);
  return context.store.log_event(store::kTimelineEvent,
                                 nlohmann::json(context.state->time.timeline()).dump());
}

}  // namespace

Result<MachineCheck> check_machine(trial::RunnerService& runner, const device::Address& device,
                                   const measure::NoiseOptions& options, Observer& observer) {
  HONE_ASSIGN(measure::Calibration calibration, runner.calibrate(device));
  MachineCheck check{measure::judge_noise(calibration, options), std::move(calibration.after)};
  if (const std::string text = measure::warning(check.noise, options); !text.empty())
    observer.warn(text);
  return check;
}

void begin_budget(Context& context) {
  context.state->deadline = Deadline(context.options.budget_seconds, context.clock);
  context.compiler.limit_by([state = context.state] { return state->deadline.most_compile(); });
}

Result<MachineCheck> look_at_machine(Context& context) {
  const auto span = context.spend(trial::Activity::kCalibrate);
  if (context.options.place().facts.emulated) {  // its clock has no noise
    context.state->noise = plan::kLeastNoise;
    return MachineCheck{};
  }
  HONE_ASSIGN(MachineCheck machine,
              check_machine(context.runner, context.options.place().address, {}, context.observer));
  context.state->noise =
      std::clamp(machine.noise.smallest_difference, plan::kLeastNoise, plan::kMostNoise);
  HONE_TRY(context.store.log_event("machine", nlohmann::json(machine.noise).dump()));
  return machine;
}

Status learn_peak(Context& context) {
  if (context.state->peak) return {};
  const Result<device::Peak> peak = context.runner.peak();
  HONE_TRY(all_but_failure(peak));
  context.state->peak = peak.value_or(device::Peak{});
  return {};
}

Status record_peak(Context& context) {
  const auto span = context.spend(trial::Activity::kBaselines);
  const Result<device::Peak> measured =
      context.state->peak ? Result<device::Peak>(*context.state->peak) : context.runner.peak();
  // Best effort: the peak is only for the report.
  if (!measured && measured.error().kind == ErrorKind::kFailure)
    return context.store.log_event("no peak", measured.error().message);
  HONE_ASSIGN(const device::Peak peak, measured);
  const auto record = [&](std::string_view name, double giga, std::string_view unit) {
    store::DeviceFact fact;
    fact.device = context.device;
    fact.name = name;
    fact.value = giga * 1e9;
    fact.unit = unit;
    return context.store.record(fact);
  };
  HONE_TRY(record(store::kPeakFact, peak.gflops, "flop/s"));
  if (peak.matrix_gflops > 0)
    HONE_TRY(record(store::kMatrixPeakFact, peak.matrix_gflops, "flop/s"));
  if (peak.stated_matrix_gflops > 0)
    HONE_TRY(record(store::kStatedMatrixPeakFact, peak.stated_matrix_gflops, "flop/s"));
  return record(store::kBandwidthFact, peak.gbytes_per_second, "byte/s");
}

store::RunState state_after(const Status& status) {
  if (status) return store::RunState::kFinished;
  return status.error().kind == ErrorKind::kInterrupted ? store::RunState::kInterrupted
                                                        : store::RunState::kFailed;
}

Status end_run(Context& context, const Status& status) {
  HONE_TRY(record_time(context));
  // The task of a shard goes on elsewhere: its results count as those of an unfinished run.
  const bool goes_on = status && context.options.part.leaves_more();
  HONE_TRY(context.store.end_run(goes_on ? store::RunState::kInterrupted : state_after(status)));
  return status;
}

}  // namespace hone::tune
