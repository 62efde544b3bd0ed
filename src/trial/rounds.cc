#include "trial/rounds.h"

#include <cmath>
#include <limits>
#include <numeric>

#include "measure/statistics.h"

namespace hone::trial {
namespace {

Columns all_of(std::size_t columns) {
  Columns all(columns);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

// A kernel without code may be gone with the runner that died, since only its library can load it:
// it is not tried.
Result<FailedColumn> who_fails(KernelRunner& runner, const RoundsRequest& request,
                               const Columns& columns, const provider::Failure& together) {
  if (columns.size() == 1) return FailedColumn{columns.front(), together};
  for (const std::size_t column : columns) {
    RunnerKernel* const kernel = request.kernels[column];
    if (!kernel->code) continue;
    HONE_ASSIGN(const KernelResult<measure::MeasureResult> alone,
                runner.measure({kernel}, nullptr, request.how));
    if (!alone) return FailedColumn{column, alone.error()};
  }
  return FailedColumn{std::nullopt, together};
}

}  // namespace

std::function<Result<Columns>()> fixed_rounds(int rounds, std::size_t columns) {
  return [rounds, columns, taken = 0]() mutable -> Result<Columns> {
    return taken++ < rounds ? all_of(columns) : Columns();
  };
}

Result<std::optional<FailedColumn>> run_rounds(KernelRunner& runner, RoundsRequest request) {
  for (;; ++request.how.seed) {
    HONE_ASSIGN(const Columns columns, request.next());
    if (columns.empty()) return std::nullopt;
    std::vector<RunnerKernel*> kernels;
    for (const std::size_t column : columns) kernels.push_back(request.kernels[column]);
    HONE_ASSIGN(const KernelResult<measure::MeasureResult> measured,
                runner.measure(kernels, request.sentinel, request.how));
    if (!measured) return who_fails(runner, request, columns, measured.error());
    HONE_ASSIGN(const bool goes_on, request.take(columns, *measured));
    if (request.reload)
      for (RunnerKernel* const kernel : kernels)
        if (kernel->code) HONE_TRY(runner.unload(*kernel));
    if (!goes_on) return std::nullopt;
  }
}

RoundSamples::RoundSamples(std::vector<std::string> identities)
    : identities_(std::move(identities)), samples_(identities_.size()) {}

Status RoundSamples::add(const measure::MeasureResult& round) {
  return add(round, all_of(samples_.size()));
}

Status RoundSamples::add(const measure::MeasureResult& round,
                         const std::vector<std::size_t>& columns) {
  std::vector<double> row(samples_.size(), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const measure::HandleSamples& taken = round.handles[i];
    if (taken.seconds.empty()) return failure("a kernel gave no sample");
    row[columns[i]] = measure::median(taken.seconds);
    measure::HandleSamples& all = samples_[columns[i]];
    all.launches_per_sample = taken.launches_per_sample;
    all.disturbed += taken.disturbed;
    all.kept_disturbed = all.kept_disturbed || taken.kept_disturbed;
    all.seconds.insert(all.seconds.end(), taken.seconds.begin(), taken.seconds.end());
    all.stop = taken.stop;
  }
  rounds_.push_back(std::move(row));
  if (rounds_.size() == 1) {
    machine_.before = round.before;
    machine_.after = round.after;
  } else {
    device::MachineState after = round.after;
    device::add_gpus(after, machine_.after);
    machine_.after = std::move(after);
  }
  return {};
}

double RoundSamples::ratio(std::size_t column) const {
  std::vector<double> ratios;
  for (const std::vector<double>& row : rounds_)
    if (!std::isnan(row[column])) ratios.push_back(row[column] / row.back());
  return measure::median(ratios);
}

}  // namespace hone::trial
