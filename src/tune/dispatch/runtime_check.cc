#include "tune/dispatch/runtime_check.h"

#include <algorithm>
#include <random>

#include "base/file.h"
#include "measure/comparison.h"
#include "trial/records.h"
#include "tune/services/input_files.h"

namespace hone::tune {
namespace {

// Enough rounds for a verdict at 5 % (six) with some to spare, each a process of its own.
constexpr int kRounds = 8;
constexpr double kSecondsPerRound = 0.1;
constexpr double kMostLaunches = 64;

}  // namespace

Status measure_under_runtime(Context& context, DispatchBench& bench,
                             const problem::Dispatch& dispatch, store::Id winner) {
  HONE_ASSIGN(const TemporaryFolder folder, TemporaryFolder::create("hone-inputs-"));
  const Result<BindingFiles> files =
      write_binding_files(dispatch, folder.path(), context.options.seed);
  if (!files) return context.store.log_event("runtime", files.error().message);

  const std::vector<store::Id> candidates{bench.default_candidate(), winner};
  std::vector<provider::Artifact> artifacts;
  std::vector<std::string> identities;
  for (const store::Id candidate : candidates) {
    HONE_ASSIGN(provider::Artifact artifact, bench.artifact(candidate));
    identities.push_back(provider::identity(artifact));
    artifact.launch = problem::over_bindings(std::move(artifact.launch), dispatch);
    artifacts.push_back(std::move(artifact));
  }
  // A default of 0.1 s launched 64 times for each sample takes minutes. Both are launched as often.
  const double room = kSecondsPerRound / std::max(bench.default_seconds(), 1e-9);
  const int launches = static_cast<int>(std::clamp(room, 1.0, kMostLaunches));
  std::vector<std::vector<double>> times(artifacts.size());
  std::mt19937_64 coin(context.options.seed);
  for (int round = 0; round < kRounds; ++round) {
    const std::size_t first = coin() & 1;
    for (const std::size_t which : {first, 1 - first}) {
      const Result<double> seconds = context.programs->time_artifact(
          {&artifacts[which], files->contents, files->types, context.options.place().address,
           context.stop_fd, launches},
          kSecondsPerRound);
      HONE_TRY(interruption(seconds));
      if (!seconds) return context.store.log_event("runtime", seconds.error().message);
      times[which].push_back(*seconds);
    }
  }
  HONE_ASSIGN(const measure::PairedComparison comparison,
              measure::compare_paired(times[0], times[1]));
  for (std::size_t which = 0; which < candidates.size(); ++which) {
    store::Measurement row;
    row.dispatch = bench.dispatch_id();
    row.identity = identities[which];
    row.device = context.device;
    row.phase = store::Phase::kOwnRuntime;
    row.timing = trial::timing_of(times[which]);
    row.sentinel_ratio = which == 0 ? 1 : comparison.ratio;
    HONE_TRY(context.store.record(row));
  }
  return {};
}

}  // namespace hone::tune
