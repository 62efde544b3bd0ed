#include "measure/paired_samples.h"

#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "measure/statistics.h"

namespace hone::measure {
namespace {

// The ratios are those of the rounds in which both have a sample.
std::vector<double> paired_ratios(const HandleSamples& samples, const HandleSamples& baseline) {
  std::map<int, double> by_round;
  for (std::size_t i = 0; i < baseline.seconds.size(); ++i)
    by_round[baseline.rounds[i]] = baseline.seconds[i];
  std::vector<double> ratios;
  for (std::size_t i = 0; i < samples.seconds.size(); ++i)
    if (const auto match = by_round.find(samples.rounds[i]); match != by_round.end())
      ratios.push_back(samples.seconds[i] / match->second);
  return ratios;
}

}  // namespace

std::optional<double> paired_ratio(const HandleSamples& samples, const HandleSamples& baseline) {
  const std::vector<double> ratios = paired_ratios(samples, baseline);
  if (ratios.empty()) return std::nullopt;
  return median(ratios);
}

std::optional<double> ratio_noise(const HandleSamples& samples, const HandleSamples& baseline) {
  constexpr std::size_t kFewest = 3;
  constexpr double kOfAMedian = 1.253, kOfADeviation = 1.483;
  const std::vector<double> ratios = paired_ratios(samples, baseline);
  if (ratios.size() < kFewest) return std::nullopt;
  const Summary summary = summarise(ratios);
  return kOfAMedian * kOfADeviation * summary.mad / summary.median /
         std::sqrt(static_cast<double>(ratios.size()));
}

std::vector<std::vector<double>> paired_rounds(const MeasureResult& result) {
  std::map<int, std::vector<double>> by_round;
  for (std::size_t c = 0; c < result.handles.size(); ++c) {
    const HandleSamples& samples = result.handles[c];
    for (std::size_t i = 0; i < samples.seconds.size(); ++i) {
      std::vector<double>& row = by_round[samples.rounds[i]];
      if (row.size() == c) row.push_back(samples.seconds[i]);
    }
  }
  std::vector<std::vector<double>> rounds;
  for (auto& [round, row] : by_round)
    if (row.size() == result.handles.size()) rounds.push_back(std::move(row));
  return rounds;
}

RoundSamples::RoundSamples(std::vector<std::string> identities)
    : identities_(std::move(identities)), samples_(identities_.size()) {}

Status RoundSamples::add(const MeasureResult& round) {
  std::vector<std::size_t> all(samples_.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return add(round, all);
}

Status RoundSamples::add(const MeasureResult& round, const std::vector<std::size_t>& columns) {
  std::vector<double> row(samples_.size(), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const HandleSamples& taken = round.handles[i];
    if (taken.seconds.empty()) return failure("a kernel gave no sample");
    row[columns[i]] = median(taken.seconds);
    HandleSamples& all = samples_[columns[i]];
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
  return median(ratios);
}

}  // namespace hone::measure
