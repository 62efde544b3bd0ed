#include "trial/records.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "measure/statistics.h"
#include "measure/verification.h"

namespace hone::trial {
namespace {

// Returns nothing for an index outside of the shape: a wild kernel may have overwritten the
// runner's memory before it answered.
std::optional<std::int64_t> flat_index(const std::vector<std::int64_t>& index,
                                       const std::vector<std::int64_t>& shape) {
  if (index.size() != shape.size()) return std::nullopt;
  std::int64_t flat = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (index[d] < 0 || index[d] >= shape[d]) return std::nullopt;
    flat = flat * shape[d] + index[d];
  }
  return flat;
}

}  // namespace

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
  // Too few samples have no interval; the observed range stands in for it.
  timing.low = std::isfinite(interval.low) ? interval.low : summary.min;
  timing.high = std::isfinite(interval.high)
                    ? interval.high
                    : (samples.empty() ? 0 : *std::max_element(samples.begin(), samples.end()));
  return timing;
}

store::OperationRow operation_row(const problem::Operation& operation) {
  store::OperationRow row;
  row.fingerprint = problem::fingerprint(operation);
  row.kind = problem::name_of(operation.kind);
  row.description = problem::describe(operation);
  row.json = nlohmann::json(operation).dump();
  row.flops = problem::flop_count(operation);
  row.bytes = problem::byte_count(operation);
  return row;
}

store::DispatchRow dispatch_row(const problem::Dispatch& dispatch,
                                std::optional<store::Id> operation) {
  nlohmann::json json = dispatch;
  json.erase("source");
  store::DispatchRow row;
  row.fingerprint = problem::fingerprint(dispatch);
  row.name = dispatch.name;
  row.operation = operation;
  row.source = dispatch.source;
  row.json = json.dump();
  return row;
}

Result<store::Id> intern_dispatch(store::Store& store, const problem::Dispatch& dispatch) {
  HONE_ASSIGN(const store::Id operation, store.intern(operation_row(dispatch.root)));
  return store.intern(dispatch_row(dispatch, operation));
}

Result<problem::Dispatch> dispatch_from(const store::DispatchRow& row) {
  nlohmann::json json = nlohmann::json::parse(row.json, nullptr, /*allow_exceptions=*/false);
  if (json.is_object()) json["source"] = row.source;
  auto dispatch = decode_json<problem::Dispatch>(json);
  if (!dispatch)
    return input_error("the store's dispatch '{}' {}", row.name, dispatch.error().message);
  return std::move(*dispatch);
}

store::ArtifactRow artifact_row(store::Id candidate, const provider::Artifact& artifact,
                                double compile_seconds) {
  store::ArtifactRow row;
  row.candidate = candidate;
  row.identity = provider::identity(artifact);
  row.format = artifact.format;
  row.launch = nlohmann::json(artifact.launch).dump();
  row.code = artifact.code;
  row.configured = artifact.configured;
  row.compile_seconds = compile_seconds;
  return row;
}

store::Measurement measurement_row(store::Id dispatch, const std::string& identity,
                                   store::Id device, const std::vector<int>& cores,
                                   const measure::HandleSamples& samples,
                                   const measure::MeasureResult& result) {
  store::Measurement row;
  row.dispatch = dispatch;
  row.identity = identity;
  row.device = device;
  row.phase = store::Phase::kSearch;
  row.timing = timing_of(samples.seconds, samples.launches_per_sample, samples.disturbed);
  row.machine = nlohmann::json{{"before", result.before},
                               {"after", result.after},
                               {"cores", cores},
                               {"stop", samples.stop},
                               {"kept_disturbed", samples.kept_disturbed}}
                    .dump();
  return row;
}

Result<provider::Artifact> artifact_from(const store::ArtifactRow& row) {
  const auto launch = decode_json<provider::Launch>(
      nlohmann::json::parse(row.launch, nullptr, /*allow_exceptions=*/false));
  if (!launch)
    return input_error("the store says of candidate {} how to launch it in words that {}",
                       row.candidate, launch.error().message);
  provider::Artifact artifact;
  artifact.format = row.format;
  artifact.code = row.code;
  artifact.launch = *launch;
  artifact.configured = row.configured;
  return artifact;
}

store::VerificationRow verification_row(const measure::Verification& verification,
                                        const std::vector<problem::Binding>& bindings) {
  store::VerificationRow row;
  row.right = verification.right;
  if (!verification.right && verification.binding >= 0) {
    row.bad_binding = verification.binding;
    if (static_cast<std::size_t>(verification.binding) < bindings.size())
      row.bad_index =
          flat_index(verification.first_bad,
                     bindings[static_cast<std::size_t>(verification.binding)].type.shape);
    row.expected = fmt::format("{}", verification.expected);
    row.got = fmt::format("{}", verification.got);
  }
  row.share_bad = verification.bad_share;
  row.tolerance = verification.tolerance;
  row.absolute_tolerance = verification.absolute_tolerance;
  row.relative_tolerance = verification.relative_tolerance;
  row.basis = verification.message;
  row.rules = measure::kVerificationRules;
  return row;
}

bool is_emulated(const store::DeviceRow& device) {
  const auto protocol = nlohmann::json::parse(device.protocol, nullptr, false);
  const auto identity = protocol.is_object() ? protocol.find("identity") : protocol.end();
  return identity != protocol.end() && identity->is_object() && identity->value("emulated", false);
}

bool still_holds(const store::FailureRow& failure, std::optional<store::Id> this_run,
                 bool retry_failed) {
  const auto kind = provider::failure_kind_from(failure.kind);
  if (!kind || (this_run && failure.run == this_run)) return true;
  return !(provider::is_accident(*kind) || (retry_failed && provider::may_differ_next_time(*kind)));
}

}  // namespace hone::trial
