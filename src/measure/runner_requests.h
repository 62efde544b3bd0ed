// What a Runner is asked and what it answers; plain data that travels as JSON (runner_jobs.h).
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "device/machine_state.h"
#include "device/place.h"
#include "measure/buffers.h"
#include "measure/sampling.h"
#include "measure/verification.h"
#include "problem/dispatch.h"
#include "provider/artifact.h"

namespace hone::measure {

struct ProblemRequest {
  problem::Dispatch dispatch;  // `source` may be empty
  // That candidates run on. Of its cores the first also runs the runner itself; an artifact for the
  // reference is code for them, compiled independently where the device is another.
  device::Address device;
  std::uint64_t seed = 1;  // of the inputs
  CacheMode cache = CacheMode::kWarm;
  // Bytes; kCold rotates through more than twice as much. 0: as the device says, where it does.
  std::int64_t last_level_cache = 0;
  std::optional<provider::Artifact> reference;
  // By binding, where the user gives them: the bytes of an input, and those that an output must
  // have. Shorter vectors and empty strings: generated, and computed by the reference.
  std::vector<std::string> inputs = {};
  std::vector<std::string> expected = {};
  // Instead of the tolerance that follows from the dispatch and its inputs.
  std::optional<Tolerance> tolerance = {};
  // Kernels are timed and not verified: no reference is made, and none needed.
  bool only_timed = false;
};

struct ProblemReady {
  std::string reference;  // "exact", "given" or "artifact"
  int copies = 1;         // of the buffers that measuring rotates through
  std::string note;       // why they are fewer than a cold cache needs; empty when they are not
};

// A vendor library's kernel for the problem's product.
struct Baseline {
  int handle = 0;
  std::string provider;   // device::Library::name()
  std::string library;    // device::LibraryKernels::library, which begins with Library::title()
  std::string algorithm;  // of those the library has; empty where it does not say
  std::string note;       // how it differs from the dispatch: converted inputs, nothing fused

  bool operator==(const Baseline&) const = default;
};

// One output of a candidate beside what it must be.
struct OutputCheck {
  int binding = 0;
  Comparison comparison;
};

// The check of one candidate's output.
struct Verification {
  bool right = false;
  // In words, when it is not: "wrong: element 17 of binding 2 is 3, not 4; 0.5 % of them".
  std::string message;
  int binding = -1;                     // of the first bad output
  std::vector<std::int64_t> first_bad;  // its index in each dimension of that output
  double expected = 0;
  double got = 0;
  double bad_share = 0;      // of the output's elements, 0 to 1
  double largest_error = 0;  // |got - expected|, over all outputs
  // Elements of write-only outputs that it left unwritten and the reference writes, or the other
  // way round.
  std::int64_t wrongly_written = 0;
  std::string tolerance;             // what "right" means here and where the numbers come from
  std::vector<int> broken_guards;    // bindings it wrote outside of
  std::vector<int> changed_inputs;   // read-only bindings it wrote to
  std::vector<OutputCheck> outputs;  // each of them, right or wrong
  double busy_seconds = 0;           // of the device meanwhile (Device::busy_seconds)
};

// What a kernel left in the bindings it writes.
struct Outputs {
  std::vector<int> bindings;
  std::vector<std::string> bytes;  // of the whole buffer, by output
};

struct MeasureRequest {
  std::vector<int> handles;
  std::optional<int> sentinel;  // a handle that runs in every round too: the default configuration
  Protocol protocol;
  bool other_memory = false;  // move the buffers first (buffers.h)
  std::uint64_t seed = 1;     // of the order within each round
  // Seconds per launch of the best so far, for the protocol's early stop. Absent: all run to the
  // end.
  std::optional<double> best;
  // Seconds that no launch of any of the handles can be shorter than (arithmetic_bound.h): a sample
  // that is shorter is taken again. 0: not known.
  double least_seconds = 0;
};

struct HandleSamples {
  int handle = 0;
  std::vector<double> seconds;  // per launch, in the order taken
  std::vector<int> rounds;      // the round each belongs to, so that samples can be paired
  int launches_per_sample = 0;
  // Samples during which somebody else had the core. They were dropped and taken again, unless
  // kept_disturbed: the machine was never quiet within the time allowed.
  int disturbed = 0;
  bool kept_disturbed = false;
  int impossible = 0;  // samples that stayed shorter than MeasureRequest::least_seconds
  bool warm = false;   // whether warm-up ended because times were stable
  std::string stop;    // why sampling ended: name_of(Stop), sampling.h
};

struct MeasureResult {
  std::vector<HandleSamples> handles;  // in the order of the request, the sentinel last
  int rounds = 0;
  double seconds = 0;       // spent in all
  double busy_seconds = 0;  // of the device, of these (Device::busy_seconds)
  device::MachineState before;
  device::MachineState after;
};

// Bytes are left out: the reference's code, inputs and expected outputs (runner_jobs.h).
void to_json(nlohmann::json& json, const ProblemRequest& request);
void from_json(const nlohmann::json& json, ProblemRequest& request);
void to_json(nlohmann::json& json, const ProblemReady& ready);
void from_json(const nlohmann::json& json, ProblemReady& ready);
void to_json(nlohmann::json& json, const Baseline& baseline);
void from_json(const nlohmann::json& json, Baseline& baseline);
void to_json(nlohmann::json& json, const Comparison& comparison);
void from_json(const nlohmann::json& json, Comparison& comparison);
void to_json(nlohmann::json& json, const Verification& verification);
void from_json(const nlohmann::json& json, Verification& verification);
void to_json(nlohmann::json& json, const MeasureRequest& request);
void from_json(const nlohmann::json& json, MeasureRequest& request);
void to_json(nlohmann::json& json, const HandleSamples& samples);
void from_json(const nlohmann::json& json, HandleSamples& samples);
void to_json(nlohmann::json& json, const MeasureResult& result);
void from_json(const nlohmann::json& json, MeasureResult& result);

}  // namespace hone::measure
