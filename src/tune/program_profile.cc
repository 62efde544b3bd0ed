#include "tune/program_profile.h"

#include <algorithm>

#include "base/file.h"
#include "measure/statistics.h"
#include "tune/function_choice.h"
#include "tune/program_variants.h"
#include "tune/select_dispatches.h"

namespace hone::tune {
namespace {

// Of the whole program, from scratch: enough for a median.
constexpr int kWholeRounds = 5;
// A launch costs about so much whatever it does; a kernel this short is mostly that.
constexpr double kShortLaunch = 5e-6;
// What reaches this share of a bound is limited by it.
constexpr double kNearBound = 0.3;

double bytes_of(const problem::Dispatch& dispatch) {
  double bytes = 0;
  for (const problem::Binding& binding : dispatch.bindings)
    bytes += static_cast<double>(std::max<std::int64_t>(0, binding.bytes));
  return bytes;
}

Status measure(Context& context, const problem::Dispatch* reference, DispatchProfile& profile) {
  HONE_ASSIGN(const double seconds, default_seconds(context, *profile.dispatch, reference));
  profile.seconds = seconds;
  if (!context.peak) {
    const Result<device::Peak> peak = context.runner.peak();
    if (!peak && peak.error().kind != ErrorKind::kFailure) return tl::unexpected(peak.error());
    context.peak = peak.value_or(device::Peak{});
  }
  const device::Peak& peak = *context.peak;
  // Matrix units were measured on floats of 16 bits.
  const std::vector<problem::Operand>& operands = profile.dispatch->root.operands;
  const bool narrow = !operands.empty() && problem::byte_size(operands.front().type.element) == 2;
  const double gflops = narrow ? std::max(peak.gflops, peak.matrix_gflops) : peak.gflops;
  constexpr double kGiga = 1e9;
  if (gflops > 0)
    profile.arithmetic_seconds = problem::flop_count(profile.dispatch->root) / (gflops * kGiga);
  // Launched again and again it finds in the cache what the cache holds.
  const auto cache = static_cast<double>(context.options.place().facts.last_level_cache_bytes);
  if (peak.gbytes_per_second > 0 && profile.bytes > cache)
    profile.memory_seconds = profile.bytes / (peak.gbytes_per_second * kGiga);
  return {};
}

Result<double> time_whole(Context& context, const Session& session) {
  const problem::Program& program = session.result().program;
  HONE_ASSIGN(const problem::Function function,
              function_to_call(program, context.options.function, context.options.inputs));
  HONE_ASSIGN(const TemporaryFolder folder, TemporaryFolder::create("hone-profile-"));
  HONE_ASSIGN(ProgramVariants variants,
              ProgramVariants::create(context, program, session.bytes(), function, folder.path()));
  HONE_TRY(variants.add({.name = "default"}));
  HONE_TRY(variants.time(kWholeRounds, {"default"}, context.options.seed));
  return measure::median(variants.all().front().seconds);
}

}  // namespace

double DispatchProfile::call_seconds() const {
  return seconds.value_or(0) * std::max(1, dispatch->launches_per_call);
}

std::string DispatchProfile::limit() const {
  if (!seconds) return "";
  if (bound_seconds() > kNearBound * *seconds)
    return memory_seconds > arithmetic_seconds ? "memory" : "arithmetic";
  return *seconds < kShortLaunch ? "launching" : "its code";
}

double ProgramProfile::sum_seconds() const {
  double sum = 0;
  for (const DispatchProfile& each : dispatches) sum += each.call_seconds();
  return sum;
}

Result<ProgramProfile> profile_program(Context& context, Session& session) {
  ProgramProfile profile;
  const std::vector<problem::Dispatch>& dispatches = session.result().program.dispatches;
  for (std::size_t i = 0; i < dispatches.size(); ++i) {
    Progress progress;
    progress.step = "weighing the dispatches";
    progress.tried = i;
    progress.planned = dispatches.size();
    context.observer.progress(progress);
    DispatchProfile& each = profile.dispatches.emplace_back();
    each.dispatch = &dispatches[i];
    each.bytes = bytes_of(dispatches[i]);
    if (runs_at_load_only(session.result().program, dispatches[i])) {
      each.why_not = kRunsAtLoadOnly;
      continue;
    }
    const Status measured = measure(context, session.reference_of(dispatches[i]), each);
    if (!measured && measured.error().kind != ErrorKind::kFailure)
      return tl::unexpected(measured.error());
    if (!measured) each.why_not = measured.error().message;
  }
  const Result<double> whole = time_whole(context, session);
  if (!whole && whole.error().kind == ErrorKind::kInterrupted) return tl::unexpected(whole.error());
  if (whole)
    profile.program_seconds = *whole;
  else
    profile.why_not = whole.error().message;
  return profile;
}

}  // namespace hone::tune
