// Conversions between the tuner's types and the store's rows.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "measure/runner_requests.h"
#include "problem/dispatch.h"
#include "provider/artifact.h"
#include "store/rows.h"
#include "store/store.h"

namespace hone::trial {

// A summary of samples in seconds per launch; all zero without samples.
store::Timing timing_of(std::span<const double> samples, int launches_per_sample = 1,
                        int dropped = 0);

store::OperationRow operation_row(const problem::Operation& operation);
store::DispatchRow dispatch_row(const problem::Dispatch& dispatch,
                                std::optional<store::Id> operation);
// Stores the rows of the dispatch and of its root; returns the dispatch's id.
Result<store::Id> intern_dispatch(store::Store& store, const problem::Dispatch& dispatch);
// Reads a dispatch from its row; an input error if the row is malformed.
Result<problem::Dispatch> dispatch_from(const store::DispatchRow& row);
store::ArtifactRow artifact_row(store::Id candidate, const provider::Artifact& artifact,
                                double compile_seconds);
// Reads an artifact from its row; an input error if its launch is malformed.
Result<provider::Artifact> artifact_from(const store::ArtifactRow& row);
store::VerificationRow verification_row(const measure::Verification& verification,
                                        const std::vector<problem::Binding>& bindings);

// Makes the row of the search for samples of the code `identity`. `cores`: the host's that ran it.
store::Measurement measurement_row(store::Id dispatch, const std::string& identity,
                                   store::Id device, const std::vector<int>& cores,
                                   const measure::HandleSamples& samples,
                                   const measure::MeasureResult& result);

// Whether rows of this device are of an emulator (device::Facts::emulated): they may not ship, nor be
// compared with rows of other devices.
bool is_emulated(const store::DeviceRow& device);

// Whether a stored failure still applies to its candidate, so that nothing is retried. It does not
// if another run met an accident. With `retry_failed` it does not either if another run's failure
// may differ next time. Failures of `this_run` always apply.
bool still_holds(const store::FailureRow& failure, std::optional<store::Id> this_run,
                 bool retry_failed);

}  // namespace hone::trial
