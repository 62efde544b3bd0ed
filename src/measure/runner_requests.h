// Requests to a Runner and its answers; plain data that travels as JSON (runner.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fields.h"
#include "device/machine_state.h"
#include "device/place.h"
#include "measure/buffers.h"
#include "measure/sampling.h"
#include "measure/verification.h"
#include "problem/dispatch.h"
#include "provider/message.h"
#include "provider/suspicion.h"

namespace hone::measure {

using provider::Message;

inline constexpr std::pair<CacheMode, std::string_view> kCacheModes[] = {
    {CacheMode::kWarm, "warm"}, {CacheMode::kCold, "cold"}};

struct ProblemRequest {
  problem::Dispatch dispatch;  // `source` may be empty
  // Device that candidates run on. The first of its cores also runs the runner itself. An artifact
  // for the reference is code for these cores, compiled independently if they are not the device.
  device::Address device;
  std::uint64_t seed = 1;  // of the inputs
  CacheMode cache = CacheMode::kWarm;
  // Bytes; kCold rotates through more than twice as much. 0: the device's own figure, if it has
  // one.
  std::int64_t last_level_cache = 0;
  std::optional<provider::Artifact> reference;
  // Data that the user gives, by binding: the bytes of an input, and the bytes that an output must
  // have. Missing and empty entries are generated, or computed by the reference.
  std::vector<std::string> inputs = {};
  std::vector<std::string> expected = {};
  // Replaces the tolerance that follows from the dispatch and its inputs.
  std::optional<Tolerance> tolerance = {};
  // Kernels are timed and not verified: no reference is made, and none needed.
  bool only_timed = false;

  static void fields(auto& request, auto&& field) {
    field("dispatch", request.dispatch);
    field("device", request.device);
    field("seed", request.seed);
    field.named("cache", request.cache, kCacheModes);
    field("last_level_cache", request.last_level_cache);
    field("reference", request.reference);
    field("tolerance", request.tolerance);
    field.when(request.only_timed, "only_timed", request.only_timed);
  }
};

struct ProblemReady {
  std::string reference;  // "exact", "given" or "artifact"
  int copies = 1;         // of the buffers that measuring rotates through
  std::string note;       // why they are fewer than a cold cache needs; empty when they are not

  static void fields(auto& ready, auto&& field) {
    field("reference", ready.reference);
    field("copies", ready.copies);
    field("note", ready.note);
  }
};

// A vendor library's kernel for the problem's product.
struct LibraryBaseline {
  int handle = 0;
  std::string provider;   // device::Library::name()
  std::string library;    // device::LibraryKernels::library, which begins with Library::title()
  std::string algorithm;  // of those the library has; empty where it does not say
  std::string note;       // how it differs from the dispatch: converted inputs, nothing fused

  bool operator==(const LibraryBaseline&) const = default;

  static void fields(auto& baseline, auto&& field) {
    field("handle", baseline.handle);
    field("provider", baseline.provider);
    field("library", baseline.library);
    field("algorithm", baseline.algorithm);
    field("note", baseline.note);
  }
};

// Comparison of a candidate's output with its expected contents.
struct OutputCheck {
  int binding = 0;
  Comparison comparison;

  static void fields(auto& output, auto&& field) {
    field("binding", output.binding);
    field("comparison", output.comparison);
  }
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
  std::string tolerance;  // what "right" means here and where the numbers come from
  // The same as numbers (Tolerance), of the first output on exact operands; none: not said.
  std::optional<double> absolute_tolerance, relative_tolerance;
  std::vector<int> broken_guards;    // bindings it wrote outside of
  std::vector<int> changed_inputs;   // read-only bindings it wrote to
  std::vector<OutputCheck> outputs;  // each of them, right or wrong
  double busy_seconds = 0;           // of the device meanwhile (Device::busy_seconds)

  static void fields(auto& verification, auto&& field) {
    field("right", verification.right);
    field("message", verification.message);
    field("binding", verification.binding);
    field("first_bad", verification.first_bad);
    field.number("expected", verification.expected);
    field.number("got", verification.got);
    field("bad_share", verification.bad_share);
    field.number("largest_error", verification.largest_error);
    field("wrongly_written", verification.wrongly_written);
    field("tolerance", verification.tolerance);
    field.number("absolute_tolerance", verification.absolute_tolerance);
    field.number("relative_tolerance", verification.relative_tolerance);
    field.or_default("busy_seconds", verification.busy_seconds);
    field("broken_guards", verification.broken_guards);
    field("changed_inputs", verification.changed_inputs);
    field("outputs", verification.outputs);
  }
};

// Contents that a kernel left in the bindings it writes.
struct Outputs {
  std::vector<int> bindings;
  std::vector<std::string> bytes;  // of the whole buffer, by output
};

// Which of these mistakes a kernel makes.
struct MistakeRequest {
  int handle = 0;
  std::vector<provider::Suspicion> suspicions;

  static void fields(auto& request, auto&& field) {
    field("handle", request.handle);
    field("suspicions", request.suspicions);
  }
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

  static void fields(auto& request, auto&& field) {
    field("handles", request.handles);
    field("protocol", request.protocol);
    field("other_memory", request.other_memory);
    field("seed", request.seed);
    field("least_seconds", request.least_seconds);
    field("sentinel", request.sentinel);
    field("best", request.best);
  }
};

struct HandleSamples {
  int handle = 0;
  std::vector<double> seconds;  // per launch, in the order taken
  std::vector<int> rounds;      // the round each belongs to, so that samples can be paired
  int launches_per_sample = 0;
  // Samples during which another process had the core. They were dropped and taken again, unless
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

  static void fields(auto& result, auto&& field) {
    field("handles", result.handles);
    field("rounds", result.rounds);
    field("seconds", result.seconds);
    field.or_default("busy_seconds", result.busy_seconds);
    field("before", result.before);
    field("after", result.after);
  }
};

// Bytes are not in the JSON but travel as blobs: the reference's code if there is one, then each
// input and each expected output. The body says how many there are.
void give_blobs(ProblemRequest& request, Message& message);
Status take_blobs(ProblemRequest& request, Message& message);
// The list of bindings; their bytes are blobs.
void to_json(nlohmann::json& json, const Outputs& outputs);
void from_json(const nlohmann::json& json, Outputs& outputs);
void give_blobs(Outputs& outputs, Message& message);
Status take_blobs(Outputs& outputs, Message& message);
void to_json(nlohmann::json& json, const HandleSamples& samples);
void from_json(const nlohmann::json& json, HandleSamples& samples);

}  // namespace hone::measure
