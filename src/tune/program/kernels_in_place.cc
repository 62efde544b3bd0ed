#include "tune/program/kernels_in_place.h"

#include <algorithm>

#include "base/ranges.h"
#include "base/stopwatch.h"
#include "measure/statistics.h"

namespace hone::tune {
namespace {

SecondsByKernel seconds_of_a_call(const std::vector<provider::KernelTime>& kernels,
                                  const KnownKernel& known) {
  const auto* const found = find_by(kernels, known.name, &provider::KernelTime::name);
  SecondsByKernel seconds;
  if (found == nullptr) return seconds;
  const double calls = static_cast<double>(found->launches) / known.launches;
  for (const provider::KernelTime& each : kernels)
    if (static_cast<double>(each.launches) >= calls) seconds[each.name] += each.seconds / calls;
  return seconds;
}

}  // namespace

Result<std::vector<std::vector<SecondsByKernel>>> look_in_place(Context& context,
                                                                const BuildBench& bench,
                                                                const std::vector<BuildId>& builds,
                                                                const InPlaceRuns& runs,
                                                                const KnownKernel& known) {
  std::vector<std::vector<SecondsByKernel>> seconds(builds.size());
  const Stopwatch watch(context.clock);
  for (int run = 0; run < runs.most; ++run) {
    if (run >= runs.least && watch.seconds() > runs.seconds) break;
    context.observer.progress({.step = "timing the kernels in place",
                               .tried = static_cast<std::size_t>(run),
                               .planned = static_cast<std::size_t>(runs.most)});
    for (std::size_t v = 0; v < builds.size(); ++v) {
      HONE_ASSIGN(const provider::ProgramTimes times, bench.kernel_times(builds[v]));
      seconds[v].push_back(seconds_of_a_call(times.kernels, known));
    }
  }
  return seconds;
}

SecondsByKernel medians(const std::vector<SecondsByKernel>& runs) {
  std::map<std::string, std::vector<double>> samples;
  for (const SecondsByKernel& run : runs)
    for (const auto& [name, seconds] : run) samples[name].push_back(seconds);
  SecondsByKernel found;
  for (const auto& [name, seconds] : samples)
    if (seconds.size() == runs.size()) found[name] = measure::median(seconds);
  return found;
}

}  // namespace hone::tune
