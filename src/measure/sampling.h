// Samples kernels' times: how a candidate is sampled, when to stop, and the timing loop of several
// kernels, interleaved.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "base/json_fields.h"
#include "base/result.h"

namespace hone::device {
class Device;
class Kernel;
}  // namespace hone::device

namespace hone::measure {

// Defined in runner_requests.h, which needs Protocol, and in workload.h.
struct MeasureRequest;
struct MeasureResult;
struct Workload;

// The measuring protocol. It is part of the device identity: samples taken under another protocol
// are not compared.
struct Protocol {
  double warm_up_seconds = 0.02;     // at least; launches before the first sample
  double max_warm_up_seconds = 0.5;  // warm-up ends here even when times still fall
  std::size_t min_samples = 7;       // six give a 95 % interval of the median
  std::size_t max_samples = 200;
  double max_seconds = 2;       // of sampling one candidate
  double target_width = 0.005;  // relative half-width of the median's interval
  double confidence = 0.95;     // of that interval
  // Least length of a batch, whose mean is a sample: 1000 times the clock's resolution and short
  // against the time between interruptions.
  double batch_seconds = 0.002;
  // A candidate certainly slower than best x factor stops early; 0 switches it off.
  double early_stop_factor = 1.2;

  // A first batch, after a single launch, that is longer than best x factor is the only sample: for
  // devices whose times differ by far less from batch to batch. 0 switches it off.
  double screen_factor = 0;

  bool operator==(const Protocol&) const = default;

  static void fields(auto& protocol, auto&& field) {
    field.or_default("warm_up_seconds", protocol.warm_up_seconds);
    field.or_default("max_warm_up_seconds", protocol.max_warm_up_seconds);
    field.or_default("min_samples", protocol.min_samples);
    field.or_default("max_samples", protocol.max_samples);
    field.or_default("max_seconds", protocol.max_seconds);
    field.or_default("target_width", protocol.target_width);
    field.or_default("confidence", protocol.confidence);
    field.or_default("batch_seconds", protocol.batch_seconds);
    field.or_default("early_stop_factor", protocol.early_stop_factor);
    field.or_default("screen_factor", protocol.screen_factor);
  }
};

// Input error that names the first field that is not possible (min above max, negative time, ...).
Status check(const Protocol& protocol);

// Launches per sample so that one takes at least batch_seconds; at least 1.
std::size_t batch_size(const Protocol& protocol, double seconds_per_launch);

// Warm-up is over after warm_up_seconds, once the last quarter of the launches (eight or more) is
// not faster than the quarter before it by over 1 % in the median; or after max_warm_up_seconds.
// (Clocks that ramp up and caches that fill make times fall.)
class WarmUp {
 public:
  explicit WarmUp(const Protocol& protocol) : protocol_(protocol) {}
  void add(double seconds);  // one launch, or one batch; all of equal length
  bool done() const;
  bool stable() const;  // whether it ended because the times were
  double seconds() const { return seconds_; }

 private:
  Protocol protocol_;
  std::vector<double> times_;
  double seconds_ = 0;
};

enum class Stop {
  kNo,
  kTight,          // the interval is narrow enough
  kMaxSamples,     // max_samples taken
  kMaxSeconds,     // time spent
  kClearlySlower,  // cannot win
};
std::string_view name_of(Stop stop);

// Takes one sample after another and says when to stop. Stopping at a target width makes the
// interval somewhat too narrow (Anscombe 1953 shows it vanishes for many samples). It only decides
// how long to sample; verdicts come from fresh interleaved rounds (comparison.h, race.h).
class StoppingRule {
 public:
  // best_seconds: per launch, of the fastest so far; none for the first candidate.
  explicit StoppingRule(const Protocol& protocol,
                        std::optional<double> best_seconds = std::nullopt);

  // seconds_per_launch: the sample. elapsed_seconds: what taking it cost, for the budget.
  Stop add(double seconds_per_launch, double elapsed_seconds);
  // Ends sampling for a reason that samples do not show.
  void end(Stop reason) { stop_ = reason; }
  Stop stop() const { return stop_; }
  const std::vector<double>& samples() const { return samples_; }  // in the order they came

 private:
  Stop decide() const;

  Protocol protocol_;
  std::optional<double> best_seconds_;
  std::vector<double> samples_;
  double elapsed_seconds_ = 0;
  Stop stop_ = Stop::kNo;
};

struct Participant {
  int handle = 0;
  device::Kernel* kernel = nullptr;
  Workload* workload = nullptr;
};

// Warms each participant up, then samples in rounds: each participant that is not done takes a
// sample per round, in random order. The sentinel goes on until the others are done, with at least
// one sample. So every sample has one of the sentinel in its round. Results are in the order of
// `participants`. An input error for an impossible protocol or no participants; a failure that
// names the handle if a kernel reports an error.
Result<MeasureResult> sample_interleaved(device::Device& device,
                                         const std::vector<Participant>& participants,
                                         const MeasureRequest& request);

}  // namespace hone::measure
