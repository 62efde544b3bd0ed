// Between the tuner's types and the store's rows.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "measure/runner_requests.h"
#include "problem/dispatch.h"
#include "provider/artifact.h"
#include "store/rows.h"
#include "store/store.h"
#include "trial/compile_service.h"

namespace hone::trial {

// A summary of samples in seconds per launch; all zero without samples.
store::Timing timing_of(std::span<const double> samples, int launches_per_sample = 1,
                        int dropped = 0);

store::Operation operation_row(const problem::Operation& operation);
store::Dispatch dispatch_row(const problem::Dispatch& dispatch, std::optional<store::Id> operation);
// The row of the dispatch, and of its root.
Result<store::Id> intern_dispatch(store::Store& store, const problem::Dispatch& dispatch);
// An input error when what the row says of it cannot be read.
Result<problem::Dispatch> dispatch_from(const store::Dispatch& row);
store::Artifact artifact_row(store::Id candidate, const provider::Artifact& artifact,
                             double compile_seconds);
// An input error when what the row says of launching it cannot be read.
Result<provider::Artifact> artifact_from(const store::Artifact& row);
store::VerificationRow verification_row(const measure::Verification& verification,
                                        const std::vector<problem::Binding>& bindings);

// Samples of the code `identity` as a row of the search; `cores`: the host's that ran it.
store::Measurement measurement_row(store::Id dispatch, const std::string& identity,
                                   store::Id device, const std::vector<int>& cores,
                                   const measure::HandleSamples& samples,
                                   const measure::MeasureResult& result);

// Whether a failure that the store holds is what became of its candidate, so that nothing is to be
// tried again. Not where another run met an accident, nor, with `retry_failed`, where another run
// found what may come out otherwise; what `this_run` itself found holds.
bool still_holds(const store::Failure& failure, std::optional<store::Id> this_run,
                 bool retry_failed);

// Time of `samples` over the time of `baseline` in the same rounds: the median of the ratios.
// Nothing when they share no round.
std::optional<double> paired_ratio(const measure::HandleSamples& samples,
                                   const measure::HandleSamples& baseline);

// The standard error of that median, as a share of it: 1.253 (for a median) x 1.483 (for a median
// absolute deviation of normal noise) x that deviation of the ratios / sqrt(n). Nothing for fewer
// than three.
std::optional<double> ratio_noise(const measure::HandleSamples& samples,
                                  const measure::HandleSamples& baseline);

// result[r][c]: the sample of the c-th handle in the r-th of the rounds in which every handle has
// one. Others cannot be compared in pairs.
std::vector<std::vector<double>> paired_rounds(const measure::MeasureResult& result);

// Writes what came of compiling a candidate: its artifact, or why there is none.
Status record_compiled(store::Store& store, store::Id candidate, const CompiledCandidate& compiled);

}  // namespace hone::trial
