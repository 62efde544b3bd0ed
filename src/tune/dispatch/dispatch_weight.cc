#include "tune/dispatch/dispatch_weight.h"

#include <algorithm>

#include "base/stopwatch.h"
#include "measure/reference.h"
#include "plan/policy.h"
#include "tune/dispatch/dispatch_bench.h"
#include "tune/dispatch/finalists.h"

namespace hone::tune {
namespace {

// Returns a bench with its default verified and measured, and releases its compile server.
Result<DispatchBench> bench_with_default(Context& context, const problem::Dispatch& dispatch,
                                         const problem::Dispatch* reference) {
  HONE_ASSIGN(DispatchBench bench, DispatchBench::prepare(context, dispatch, reference));
  const Status ready = bench.set_up();
  HONE_TRY(context.compiler.release(bench.key()));
  HONE_TRY(ready);
  return bench;
}

}  // namespace

double least_search_seconds(const device::Traits& traits) {
  return traits.compiling_disturbs ? plan::kLeastSearchSeconds
                                   : plan::kLeastSearchSecondsBesideCompiles;
}

double seconds_needed(const Context& context, std::optional<double> ready) {
  const device::Traits& traits = context.options.traits();
  const double compiles = traits.compiling_disturbs ? 0 : plan::kFirstCompilesSeconds;
  return ready.value_or(plan::kSetupSeconds) + compiles + least_search_seconds(traits) +
         race_seconds(finalist_seconds(0, traits.one_batch_tells), traits.one_batch_tells) +
         shipping_seconds(context);
}

double shipping_seconds(const Context& context) {
  const bool ships_other_code =
      context.options.traits().assembles_code && context.programs != nullptr;
  return ships_other_code ? plan::kShippingSeconds : 0;
}

plan::Weight estimated_weight(const Context& context, const problem::Dispatch& dispatch) {
  const device::Facts& facts = context.options.place().facts;
  double bytes = 0;
  for (const problem::Binding& binding : dispatch.bindings)
    bytes += static_cast<double>(std::max<std::int64_t>(0, binding.bytes));
  const double seconds =
      std::max(problem::flop_count(dispatch.root) / facts.rough_flops, bytes / facts.rough_bytes) *
      std::max(1, dispatch.launches_per_call);
  return {seconds, seconds, seconds_needed(context, {})};
}

Result<double> default_seconds(Context& context, const problem::Dispatch& dispatch,
                               const problem::Dispatch* reference) {
  HONE_ASSIGN(const DispatchBench bench, bench_with_default(context, dispatch, reference));
  HONE_TRY(bench.check_default());
  return bench.default_seconds();
}

Result<plan::Weight> weigh_dispatch(Context& context, const problem::Dispatch& dispatch) {
  const Stopwatch clock(context.clock);
  HONE_ASSIGN(DispatchBench bench, DispatchBench::prepare_to_time(context, dispatch));
  const Status timed = bench.time_default();
  HONE_TRY(context.compiler.release(bench.key()));
  HONE_TRY(timed);
  const double launch = bench.default_seconds();
  const double launches = std::max(1, dispatch.launches_per_call);
  // Expected gain: the default's time beyond its arithmetic at the device's peak.
  // kLeastExpectedGain is the share that tuning may gain in any case.
  double least = bench.seconds_at_peak();
  // Where time is dealt out by what dispatches take at best, a dispatch without a known peak gets
  // its estimate: several products in one, attention.
  if (least == 0 && !context.options.traits().compiling_disturbs)
    least = estimated_weight(context, dispatch).share / launches;
  const double gain = std::max(plan::kLeastExpectedGain * launch, launch - least);
  // Where compiling does not disturb, the reference is computed while another dispatch is searched.
  const bool waits_for_reference =
      context.options.traits().compiling_disturbs && !measure::has_exact_reference(dispatch);
  const double reference = waits_for_reference ? plan::kSetupSeconds : 0;
  const double needs = seconds_needed(context, clock.seconds() + reference);
  return plan::Weight{launch * launches, gain * launches, needs};
}

}  // namespace hone::tune
