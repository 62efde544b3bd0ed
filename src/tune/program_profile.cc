#include "tune/program_profile.h"

#include <span>

#include "base/file.h"
#include "base/ranges.h"
#include "measure/statistics.h"
#include "plan/policy.h"
#include "tune/dispatch/dispatch_bench.h"
#include "tune/dispatch/dispatch_weight.h"
#include "tune/program/program_calls.h"
#include "tune/services/function_choice.h"
#include "tune/services/select_dispatches.h"
#include "tune/services/session_steps.h"

namespace hone::tune {
namespace {

double bytes_of(const problem::Dispatch& dispatch) {
  double bytes = 0;
  for (const problem::Binding& binding : dispatch.bindings)
    bytes += static_cast<double>(std::max<std::int64_t>(0, binding.bytes));
  return bytes;
}

// Fills in the roofline times, as far as the device's peak is known.
Status learn_bounds(Context& context, DispatchProfile& profile) {
  HONE_TRY(learn_peak(context));
  const device::Peak& peak = *context.state->peak;
  // Matrix units were measured on floats of 16 bits.
  const std::vector<problem::Operand>& operands = profile.dispatch->root.operands;
  const bool narrow = !operands.empty() && problem::byte_size(operands.front().type.element) == 2;
  const double gflops = narrow ? std::max(peak.gflops, peak.matrix_gflops) : peak.gflops;
  constexpr double kGiga = 1e9;
  if (gflops > 0)
    profile.arithmetic_seconds = problem::flop_count(profile.dispatch->root) / (gflops * kGiga);
  // Repeated launches read from the cache whatever fits into it.
  const auto cache = static_cast<double>(context.options.place().facts.last_level_cache_bytes);
  if (peak.gbytes_per_second > 0 && profile.bytes > cache)
    profile.memory_seconds = profile.bytes / (peak.gbytes_per_second * kGiga);
  return {};
}

Status measure_alone(Context& context, const ProgramTuning& session, ProgramProfile& profile) {
  std::vector<const problem::Dispatch*> dispatches;
  for (const DispatchProfile& each : profile.dispatches)
    if (each.why_not.empty()) dispatches.push_back(each.dispatch);
  DefaultsAhead defaults(context, dispatches);
  std::size_t done = 0, timed = 0;
  for (DispatchProfile& each : profile.dispatches) {
    context.observer.progress(
        {.step = "weighing the dispatches", .tried = done++, .planned = profile.dispatches.size()});
    if (!each.why_not.empty()) continue;
    HONE_TRY(defaults.reach(timed++, -1));
    const Result<double> seconds =
        default_seconds(context, *each.dispatch, session.reference_of(*each.dispatch));
    HONE_TRY(all_but_failure(seconds));
    if (seconds)
      each.seconds = *seconds;
    else
      each.why_not = seconds.error().message;
  }
  return defaults.end();
}

// Launch sets of one kernel share its name, so each gets the mean that the runtime reports.
void take_kernel_times(const std::vector<provider::KernelTime>& kernels, ProgramProfile& profile) {
  for (DispatchProfile& each : profile.dispatches) {
    const auto* const kernel = find_by(kernels, each.dispatch->name, &provider::KernelTime::name);
    if (kernel != nullptr && each.why_not.empty())
      each.seconds_in_place = kernel->seconds / static_cast<double>(kernel->launches);
  }
}

void tell_round(Context& context, std::size_t done, std::size_t rounds) {
  context.observer.progress({.stage = Stage::kProgramRounds,
                             .step = "timing the whole program, round",
                             .tried = done,
                             .planned = rounds});
}

// Takes the dispatches' times from runs of the whole program, if the runtime reports kernels.
Status measure_in_place(Context& context, const provider::KernelTimer& timer,
                        const provider::ProgramCall& call, std::size_t rounds, bool alone,
                        problem::Program& program, ProgramProfile& profile) {
  std::vector<provider::ProgramTimes> runs;
  if (!alone || has_varying_launches(program)) {
    tell_round(context, 0, rounds);
    HONE_ASSIGN(provider::ProgramTimes first, timer(call, 0));
    take_launches(first.kernels, program);
    if (!alone && first.seconds > plan::kLongCallSeconds) {
      rounds = 1;
      runs.push_back(std::move(first));
    }
  }
  while (runs.size() < rounds) {
    tell_round(context, runs.size(), rounds);
    HONE_ASSIGN(runs.emplace_back(), timer(call, trial::kProgramSampleSeconds));
  }
  // All times are of one run, the median, so that they are consistent.
  const auto middle = runs.begin() + std::ssize(runs) / 2;
  std::ranges::nth_element(runs, middle, {}, &provider::ProgramTimes::seconds);
  profile.program_seconds = middle->seconds;
  take_kernel_times(middle->kernels, profile);
  if (!profile.sum_in_place()) profile.why_not = "the runtime names none of the dispatches";
  return {};
}

Status measure_whole(Context& context, ProgramTuning& session, bool alone,
                     ProgramProfile& profile) {
  const Options& options = context.options;
  problem::Program& program = session.result().program;
  HONE_ASSIGN(const TemporaryFolder folder, TemporaryFolder::create("hone-profile-"));
  HONE_ASSIGN(const problem::Function function,
              function_to_call(program, options.function, options.inputs));
  HONE_ASSIGN(const provider::ProgramCall call,
              compiled_call(context, program_to_profile(options, session.bytes()), function,
                            folder.path()));
  const std::size_t rounds = alone ? plan::kProfileRounds : plan::kQuickProfileRounds;
  if (const provider::KernelTimer timer = context.programs->runtime().timers(call.device).kernels)
    return measure_in_place(context, timer, call, rounds, alone, program, profile);
  HONE_ASSIGN(
      const std::vector<std::vector<double>> times,
      time_rounds(context.programs->runtime(), {call}, {.rounds = rounds}, context.observer));
  std::vector<double> seconds;
  for (const std::vector<double>& round : times) seconds.push_back(round.front());
  profile.program_seconds = measure::median(seconds);
  return {};
}

}  // namespace

std::optional<double> DispatchProfile::launch_seconds() const {
  return seconds_in_place ? seconds_in_place : seconds;
}

double DispatchProfile::call_seconds() const {
  return launch_seconds().value_or(0) * std::max(1, dispatch->launches_per_call);
}

std::string DispatchProfile::limit() const {
  const std::optional<double> launch = launch_seconds();
  if (!launch) return "";
  if (bound_seconds() > plan::kNearBoundShare * *launch)
    return memory_seconds > arithmetic_seconds ? "memory" : "arithmetic";
  if (*launch < plan::kShortLaunchSeconds) return "launching";
  return bound_seconds() > 0 ? "its code" : "";
}

namespace {

std::optional<double> sum_of(const std::vector<DispatchProfile>& dispatches,
                             std::optional<double> DispatchProfile::*launch) {
  std::optional<double> sum;
  for (const DispatchProfile& each : dispatches)
    if (each.*launch)
      sum = sum.value_or(0) + *(each.*launch) * std::max(1, each.dispatch->launches_per_call);
  return sum;
}

}  // namespace

std::optional<double> ProgramProfile::sum_alone() const {
  return sum_of(dispatches, &DispatchProfile::seconds);
}

std::optional<double> ProgramProfile::sum_in_place() const {
  return sum_of(dispatches, &DispatchProfile::seconds_in_place);
}

trial::ProgramToCompile program_to_profile(const Options& options, const std::string& bytes) {
  return {options.input, bytes, options.flags, options.flags};
}

Result<ProgramProfile> profile_program(Context& context, ProgramTuning& session, bool alone) {
  ProgramProfile profile;
  const problem::Program& program = session.result().program;
  for (const problem::Dispatch& dispatch : program.dispatches) {
    DispatchProfile& each = profile.dispatches.emplace_back();
    each.dispatch = &dispatch;
    each.bytes = bytes_of(dispatch);
    each.why_not = why_not_launched(program, dispatch);
  }
  const Status whole = measure_whole(context, session, alone, profile);
  HONE_TRY(interruption(whole));
  if (!whole) profile.why_not = whole.error().message;
  for (DispatchProfile& each : profile.dispatches)  // as far as that has counted them
    each.why_not = why_not_launched(program, *each.dispatch);
  if (!alone) return profile;
  HONE_TRY(measure_alone(context, session, profile));
  // The runner measures the peak, and has a device only after its first measurement.
  for (DispatchProfile& each : profile.dispatches)
    if (each.launch_seconds()) HONE_TRY(learn_bounds(context, each));
  return profile;
}

}  // namespace hone::tune
