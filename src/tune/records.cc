#include "tune/records.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "measure/statistics.h"

namespace hone::tune {

store::Timing timing_of(std::span<const double> samples, int launches_per_sample, int dropped) {
  const measure::Summary summary = measure::summarise(samples);
  const measure::Interval interval = measure::median_interval(samples);
  store::Timing timing;
  timing.samples.assign(samples.begin(), samples.end());
  timing.launches_per_sample = launches_per_sample;
  timing.dropped = dropped;
  timing.min = summary.min;
  timing.median = summary.median;
  timing.spread = summary.median > 0 ? (summary.q3 - summary.q1) / summary.median : 0;
  // Too few samples have no interval; what was seen is then all there is to say.
  timing.low = std::isfinite(interval.low) ? interval.low : summary.min;
  timing.high = std::isfinite(interval.high)
                    ? interval.high
                    : (samples.empty() ? 0 : *std::max_element(samples.begin(), samples.end()));
  return timing;
}

store::Operation operation_row(const problem::Operation& operation) {
  store::Operation row;
  row.fingerprint = problem::fingerprint(operation);
  row.kind = problem::name_of(operation.kind);
  row.description = problem::describe(operation);
  row.json = nlohmann::json(operation).dump();
  row.flops = problem::flop_count(operation);
  row.bytes = problem::byte_count(operation);
  return row;
}

store::Dispatch dispatch_row(const problem::Dispatch& dispatch,
                             std::optional<store::Id> operation) {
  nlohmann::json json = dispatch;
  json.erase("source");
  store::Dispatch row;
  row.fingerprint = problem::fingerprint(dispatch);
  row.name = dispatch.name;
  row.operation = operation;
  row.source = dispatch.source;
  row.json = json.dump();
  return row;
}

store::Artifact artifact_row(store::Id candidate, const provider::Artifact& artifact,
                             double compile_seconds) {
  store::Artifact row;
  row.candidate = candidate;
  row.identity = provider::identity(artifact);
  row.format = artifact.format;
  row.launch = nlohmann::json(artifact.launch).dump();
  row.code = artifact.code;
  row.configured = artifact.configured;
  row.compile_seconds = compile_seconds;
  return row;
}

provider::Artifact artifact_from(const store::Artifact& row) {
  provider::Artifact artifact;
  artifact.format = row.format;
  artifact.code = row.code;
  artifact.launch = nlohmann::json::parse(row.launch).get<provider::Launch>();
  artifact.configured = row.configured;
  return artifact;
}

store::Verification verification_row(const measure::Verification& verification,
                                     const std::vector<problem::Binding>& bindings) {
  store::Verification row;
  row.right = verification.right;
  if (!verification.right && verification.binding >= 0) {
    row.bad_binding = verification.binding;
    const auto& shape = bindings.at(static_cast<std::size_t>(verification.binding)).type.shape;
    std::int64_t index = 0;
    for (std::size_t d = 0; d < verification.first_bad.size() && d < shape.size(); ++d)
      index = index * shape[d] + verification.first_bad[d];
    row.bad_index = index;
    row.expected = fmt::format("{}", verification.expected);
    row.got = fmt::format("{}", verification.got);
  }
  row.share_bad = verification.bad_share;
  row.tolerance = verification.tolerance;
  row.basis = verification.message;
  return row;
}

std::optional<double> paired_ratio(const measure::HandleSamples& samples,
                                   const measure::HandleSamples& baseline) {
  std::map<int, double> by_round;
  for (std::size_t i = 0; i < baseline.seconds.size(); ++i)
    by_round[baseline.rounds[i]] = baseline.seconds[i];
  std::vector<double> ratios;
  for (std::size_t i = 0; i < samples.seconds.size(); ++i)
    if (const auto match = by_round.find(samples.rounds[i]); match != by_round.end())
      ratios.push_back(samples.seconds[i] / match->second);
  if (ratios.empty()) return std::nullopt;
  return measure::median(ratios);
}

std::vector<std::vector<double>> paired_rounds(const measure::MeasureResult& result) {
  std::map<int, std::vector<double>> by_round;
  for (std::size_t c = 0; c < result.handles.size(); ++c) {
    const measure::HandleSamples& samples = result.handles[c];
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

}  // namespace hone::tune
