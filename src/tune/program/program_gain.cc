#include "tune/program/program_gain.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/ranges.h"
#include "measure/statistics.h"
#include "plan/policy.h"
#include "tune/program/tie_choice.h"

namespace hone::tune {
namespace {

// Returns the default's seconds per launch, by dispatch.
Result<std::map<store::Id, double>> default_times(Context& context) {
  HONE_ASSIGN(const std::vector<store::DispatchView> rows, context.store.dispatch_rows());
  std::map<store::Id, double> seconds;
  for (const store::DispatchView& row : rows)
    if (row.build == context.baseline.build && row.device == context.device && row.default_row &&
        row.default_row->median_seconds)
      seconds[row.dispatch] = *row.default_row->median_seconds;
  return seconds;
}

// Launch sets of a kernel share its name, and so one row here.
std::vector<KernelGain> promises(std::string_view compiler, const std::vector<TunedDispatch>& tuned,
                                 const std::vector<store::Id>& shipped,
                                 const std::map<store::Id, double>& defaults) {
  std::vector<KernelGain> kernels;
  for (const TunedDispatch& each : tuned) {
    const auto* const seconds = value_at(defaults, each.id);
    if (std::ranges::count(shipped, each.id) == 0 || !each.selection.speedup || seconds == nullptr)
      continue;
    const std::string& name = each.dispatch->name;
    auto known = std::ranges::find(kernels, name, &KernelGain::dispatch);
    if (known == kernels.end())
      known = kernels.insert(
          kernels.end(),
          KernelGain{.dispatch = name,
                     .provider = std::string(each.replaces() ? each.payload->replacing : compiler),
                     .launches = 0});
    const int launches = std::max(1, each.dispatch->launches_per_call);
    known->launches += launches;
    known->promised += launches * *seconds * (1 - 1 / *each.selection.speedup);
  }
  std::ranges::stable_sort(kernels, std::greater(), &KernelGain::promised);
  return kernels;
}

// Returns the median of each kernel that every run has.
SecondsByKernel medians(const std::vector<SecondsByKernel>& runs) {
  std::map<std::string, std::vector<double>> samples;
  for (const SecondsByKernel& run : runs)
    for (const auto& [name, seconds] : run) samples[name].push_back(seconds);
  SecondsByKernel found;
  for (const auto& [name, seconds] : samples)
    if (seconds.size() == runs.size()) found[name] = measure::median(seconds);
  return found;
}

Status look_at_kernels(Context& context, const ProgramBench& bench, const VerifiedBuild& build,
                       ProgramGain& gain) {
  const BuildBench& builds = bench.builds;
  const ProgramBuild* const without = builds.timed_for(build.without_spec->id());
  const ProgramBuild* const with = builds.timed_for(build.id());
  if (gain.kernels.empty() || without == nullptr || with == nullptr) return {};
  const KernelGain& known = gain.kernels.front();
  HONE_ASSIGN(const auto runs, look_in_place(context, builds, {without->id(), with->id()},
                                             {plan::kGainRuns}, {known.dispatch, known.launches}));
  SecondsByKernel before = medians(runs[0]), after = medians(runs[1]);
  for (KernelGain& kernel : gain.kernels) {
    const auto a = before.find(kernel.dispatch), b = after.find(kernel.dispatch);
    if (a == before.end() || b == after.end()) continue;
    kernel.before = a->second;
    kernel.after = b->second;
    before.erase(a);
    after.erase(b);
  }
  const auto sum = [](const SecondsByKernel& seconds) {
    const auto each = seconds | std::views::values;
    return std::accumulate(each.begin(), each.end(), 0.0);
  };
  const bool all_known = std::ranges::all_of(
      gain.kernels, [](const KernelGain& kernel) { return kernel.before.has_value(); });
  if (!all_known) return {};
  gain.others_before = sum(before);
  gain.others_after = sum(after);
  return {};
}

std::optional<double> difference(std::optional<double> a, std::optional<double> b) {
  if (!a || !b) return std::nullopt;
  return *a - *b;
}

nlohmann::json or_null(std::optional<double> value) {
  return value ? nlohmann::json(*value) : nlohmann::json();
}

double promised_by(const std::vector<KernelGain>& kernels) {
  double seconds = 0;
  for (const KernelGain& kernel : kernels) seconds += kernel.promised;
  return seconds;
}

}  // namespace

Result<double> promised_seconds(Context& context, const std::vector<TunedDispatch>& tuned,
                                const std::vector<store::Id>& shipped) {
  HONE_ASSIGN(const auto defaults, default_times(context));
  return promised_by(promises({}, tuned, shipped, defaults));
}

std::optional<double> KernelGain::arrived() const {
  return difference(before, after);
}

double ProgramGain::promised() const {
  return promised_by(kernels);
}

std::optional<double> ProgramGain::in_kernels() const {
  double all = 0;
  for (const KernelGain& kernel : kernels) {
    const std::optional<double> arrived = kernel.arrived();
    if (!arrived) return std::nullopt;
    all += *arrived;
  }
  return all;
}

std::optional<double> ProgramGain::in_others() const {
  return difference(others_before, others_after);
}

std::optional<double> ProgramGain::between() const {
  return difference(difference(arrived(), in_kernels()), in_others());
}

Result<ProgramGain> gain_of(Context& context, ProgramBench& bench, const VerifiedBuild& build,
                            const ProvingRounds& rounds, const std::vector<TunedDispatch>& tuned) {
  ProgramGain gain;
  gain.variant = build.label;
  gain.without_spec = build.without_spec->label;
  gain.has_flags = build.without_spec->id() != default_build().id();
  // Uses the verdict's paired ratios: medians of rounds would also differ by effects common to a
  // round.
  gain.before = gain.base = measure::median(rounds.base);
  if (!rounds.flags.empty()) {
    HONE_ASSIGN(const auto by_flags, measure::compare_paired(rounds.base, rounds.flags));
    gain.before = gain.base * by_flags.ratio;
  }
  HONE_ASSIGN(
      const auto by_spec,
      measure::compare_paired(rounds.flags.empty() ? rounds.base : rounds.flags, rounds.chosen));
  gain.after = gain.before * by_spec.ratio;
  HONE_ASSIGN(const auto defaults, default_times(context));
  gain.kernels = promises(context.programs->name(), tuned, build.shipped, defaults);
  if (context.programs->runtime().timers(context.options.place().address).kernels)
    HONE_TRY(look_at_kernels(context, bench, build, gain));
  return gain;
}

nlohmann::json json_of(const ProgramGain& gain) {
  nlohmann::json kernels = nlohmann::json::array();
  for (const KernelGain& kernel : gain.kernels)
    kernels.push_back({{"dispatch", kernel.dispatch},
                       {"provider", kernel.provider},
                       {"launches", kernel.launches},
                       {"promised", kernel.promised},
                       {"before", or_null(kernel.before)},
                       {"after", or_null(kernel.after)},
                       {"arrived", or_null(kernel.arrived())}});
  return {{"variant", gain.variant},
          {"without_spec", gain.without_spec},
          {"seconds_default", gain.base},
          {"seconds_before", gain.before},
          {"seconds_after", gain.after},
          {"promised", gain.promised()},
          {"arrived", gain.arrived()},
          {"in_kernels", or_null(gain.in_kernels())},
          {"in_others", or_null(gain.in_others())},
          {"between", or_null(gain.between())},
          {"kernels", kernels}};
}

}  // namespace hone::tune
