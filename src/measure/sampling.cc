#include "measure/sampling.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <span>
#include <thread>

#include "device/device.h"
#include "measure/inputs.h"
#include "measure/statistics.h"
#include "measure/workload.h"

namespace hone::measure {
namespace {

// A quarter of fewer launches is too little to compare.
constexpr std::size_t kFewestWarmUps = 8;
constexpr double kStillFalling = 0.99;

bool is_duration(double seconds) {
  return std::isfinite(seconds) && seconds >= 0;
}

// Attempts to take an undisturbed sample; after them a disturbed one is kept, marked.
constexpr int kAttempts = 4;
// Below this many launches in a sample the launch that brings the kernel's code back into the
// caches would cost as much as the sample.
constexpr std::size_t kSettleFrom = 4;
// A first launch this many times longer than the best, and long enough that cold caches and page
// faults do not explain it, needs no second one: some legal configurations take a thousand times
// the default's time.
constexpr double kHopelessFactor = 5;
constexpr double kHopelessSeconds = 0.05;
// Longer than a library's threads keep looking for work after a call and hone's own
// after a launch (device/cpu/thread_pool.cc).
constexpr std::chrono::milliseconds kHandOver{2};

struct Track {
  Track(const Participant& who, const MeasureRequest& request)
      : participant(who),
        rule(request.protocol, request.best),
        sentinel(request.sentinel == who.handle) {
    result.handle = who.handle;
  }

  Participant participant;
  HandleSamples result;
  StoppingRule rule;
  std::size_t launches = 1;  // per sample
  bool sentinel = false;
  bool done() const { return rule.stop() != Stop::kNo; }
};

class SampleLoop {
 public:
  SampleLoop(device::Device& device, const MeasureRequest& request)
      : device_(device), request_(request) {}

  Status add(const Participant& participant) {
    Track& track = tracks_.emplace_back(participant, request_);
    return warm_up(track);
  }

  Status run_rounds() {
    for (auto order = next_round(); !order.empty(); order = next_round()) {
      for (Track* track : order) HONE_TRY(take_sample(*track));
      ++round_;
    }
    return {};
  }

  MeasureResult result() {
    MeasureResult result;
    result.rounds = round_;
    for (Track& track : tracks_) {
      track.result.stop = name_of(track.rule.stop());
      result.handles.push_back(std::move(track.result));
    }
    return result;
  }

 private:
  Result<device::BatchTime> batch(const Participant& participant, std::size_t launches) {
    Workload& workload = *participant.workload;
    auto time =
        device_.time(*participant.kernel, workload.buffers.rotation(), workload.next, launches);
    workload.next += launches;
    if (!time) return failure("handle {}: {}", participant.handle, time.error().message);
    return time;
  }

  Status warm_up(Track& track) {
    const Participant& participant = track.participant;
    HONE_TRY(participant.workload->buffers.restore_read_write());
    hand_over(participant);
    HONE_ASSIGN(const auto first, batch(participant, 1));
    if (request_.best && request_.protocol.early_stop_factor > 0 && !track.sentinel &&
        first.seconds > std::max(kHopelessSeconds, *request_.best * kHopelessFactor)) {
      end_early(track, first.seconds, 1);
      return {};
    }
    const std::size_t launches = batch_size(request_.protocol, first.seconds);
    if (request_.best && request_.protocol.screen_factor > 0 && !track.sentinel) {
      HONE_ASSIGN(const auto time, batch(participant, launches));
      const double seconds = time.seconds / static_cast<double>(launches);
      if (!time.disturbed && seconds > *request_.best * request_.protocol.screen_factor) {
        end_early(track, seconds, launches);
        return {};
      }
    }
    WarmUp warm_up(request_.protocol);
    double fastest = first.seconds;
    while (!warm_up.done()) {
      HONE_ASSIGN(const auto time, batch(participant, launches));
      warm_up.add(time.seconds);
      fastest = std::min(fastest, time.seconds / static_cast<double>(launches));
    }
    hand_over(participant);
    track.launches = batch_size(request_.protocol, fastest);
    track.result.warm = warm_up.stable();
    track.result.launches_per_sample = static_cast<int>(track.launches);
    return {};
  }

  void end_early(Track& track, double seconds, std::size_t launches) {
    track.result.launches_per_sample = static_cast<int>(launches);
    track.result.seconds.push_back(seconds);
    track.result.rounds.push_back(round_);
    track.rule.end(Stop::kClearlySlower);
  }

  Status take_sample(Track& track) {
    const Participant& participant = track.participant;
    const double start = device::raw_seconds();
    const double least = request_.least_seconds * static_cast<double>(track.launches);
    double best = std::numeric_limits<double>::infinity(), impossible = 0;
    bool quiet = false;
    hand_over(participant);
    for (int attempt = 0; attempt < kAttempts && !quiet; ++attempt) {
      HONE_TRY(participant.workload->buffers.restore_read_write());
      if (track.launches >= kSettleFrom && participant.workload->buffers.copies() == 1)
        HONE_TRY(batch(participant, 1));
      HONE_ASSIGN(const auto time, batch(participant, track.launches));
      // Shorter than the device can be is an error of measuring, and no time at all.
      if (time.seconds < least) {
        impossible = std::max(impossible, time.seconds);
        continue;
      }
      quiet = !time.disturbed;
      if (!quiet) ++track.result.disturbed;
      // Being disturbed only makes a sample longer: of several disturbed ones the shortest counts.
      best = quiet ? time.seconds : std::min(best, time.seconds);
    }
    hand_over(participant);
    if (std::isinf(best)) {
      best = impossible;
      ++track.result.impossible;
    } else if (!quiet) {
      track.result.kept_disturbed = true;
    }
    const double seconds = best / static_cast<double>(track.launches);
    track.result.seconds.push_back(seconds);
    track.result.rounds.push_back(round_);
    track.rule.add(seconds, device::raw_seconds() - start);
    return {};
  }

  // Threads of a library still poll for work when another library's threads start. Sleep in
  // between, so that they go to sleep too.
  void hand_over(const Participant& participant) const {
    if (device_.threads() > 1 && !participant.kernel->uses_device_threads())
      std::this_thread::sleep_for(kHandOver);
  }

  std::vector<Track*> next_round() {
    std::vector<Track*> order;
    for (Track& track : tracks_)
      if (!track.sentinel && !track.done()) order.push_back(&track);
    const bool alone = tracks_.size() == 1;
    for (Track& track : tracks_)
      if (track.sentinel &&
          (alone ? !track.done() : !order.empty() || track.result.seconds.empty()))
        order.push_back(&track);
    for (std::size_t i = order.size(); i > 1; --i) {
      const std::uint64_t draw =
          random_bits(request_.seed, static_cast<std::uint64_t>(round_) * tracks_.size() + i);
      std::swap(order[i - 1], order[draw % i]);
    }
    return order;
  }

  device::Device& device_;
  const MeasureRequest& request_;
  std::vector<Track> tracks_;
  int round_ = 0;
};

}  // namespace

Status check(const Protocol& protocol) {
  if (!is_duration(protocol.warm_up_seconds))
    return input_error("warm_up_seconds must be 0 or more, got {}", protocol.warm_up_seconds);
  if (!(protocol.max_warm_up_seconds >= protocol.warm_up_seconds))
    return input_error("max_warm_up_seconds ({}) must not be below warm_up_seconds ({})",
                       protocol.max_warm_up_seconds, protocol.warm_up_seconds);
  if (protocol.min_samples < 1) return input_error("min_samples must be at least 1");
  if (protocol.max_samples < protocol.min_samples)
    return input_error("max_samples ({}) must not be below min_samples ({})", protocol.max_samples,
                       protocol.min_samples);
  if (!(protocol.max_seconds > 0))
    return input_error("max_seconds must be above 0, got {}", protocol.max_seconds);
  if (!(protocol.target_width >= 0))
    return input_error("target_width must be 0 or more, got {}", protocol.target_width);
  if (!(protocol.confidence > 0 && protocol.confidence < 1))
    return input_error("confidence must lie between 0 and 1, got {}", protocol.confidence);
  if (!is_duration(protocol.batch_seconds))
    return input_error("batch_seconds must be 0 or more, got {}", protocol.batch_seconds);
  if (!(protocol.early_stop_factor == 0 || protocol.early_stop_factor >= 1))
    return input_error("early_stop_factor must be 0 (off) or at least 1, got {}",
                       protocol.early_stop_factor);
  if (!(protocol.screen_factor == 0 || protocol.screen_factor >= 1))
    return input_error("screen_factor must be 0 (off) or at least 1, got {}",
                       protocol.screen_factor);
  return {};
}

std::size_t batch_size(const Protocol& protocol, double seconds_per_launch) {
  if (!(seconds_per_launch > 0)) return 1;
  const double launches = std::ceil(protocol.batch_seconds / seconds_per_launch);
  return static_cast<std::size_t>(std::clamp(launches, 1.0, 1e9));
}

void WarmUp::add(double seconds) {
  times_.push_back(seconds);
  seconds_ += seconds;
}

bool WarmUp::stable() const {
  if (times_.size() < kFewestWarmUps) return false;
  const std::size_t quarter = times_.size() / 4;
  const std::span<const double> times(times_);
  const double newer = median(times.last(quarter));
  const double older = median(times.last(2 * quarter).first(quarter));
  return newer >= kStillFalling * older;
}

bool WarmUp::done() const {
  if (seconds_ >= protocol_.max_warm_up_seconds) return true;
  return seconds_ >= protocol_.warm_up_seconds && stable();
}

std::string_view name_of(Stop stop) {
  // In the order of the enumeration.
  constexpr std::array<std::string_view, 5> kNames = {
      "not stopped", "tight interval", "most samples", "time spent", "clearly slower"};
  return kNames.at(static_cast<std::size_t>(stop));
}

StoppingRule::StoppingRule(const Protocol& protocol, std::optional<double> best_seconds)
    : protocol_(protocol), best_seconds_(best_seconds) {}

Stop StoppingRule::add(double seconds_per_launch, double elapsed_seconds) {
  samples_.push_back(seconds_per_launch);
  elapsed_seconds_ += elapsed_seconds;
  stop_ = decide();
  return stop_;
}

Stop StoppingRule::decide() const {
  if (best_seconds_ && protocol_.early_stop_factor > 0 &&
      median_lower_bound(samples_, protocol_.confidence) >
          *best_seconds_ * protocol_.early_stop_factor)
    return Stop::kClearlySlower;
  if (samples_.size() >= protocol_.min_samples &&
      relative_half_width(samples_, protocol_.confidence) <= protocol_.target_width)
    return Stop::kTight;
  if (samples_.size() >= protocol_.max_samples) return Stop::kMaxSamples;
  if (elapsed_seconds_ >= protocol_.max_seconds) return Stop::kMaxSeconds;
  return Stop::kNo;
}

Result<MeasureResult> sample_interleaved(device::Device& device,
                                         const std::vector<Participant>& participants,
                                         const MeasureRequest& request) {
  if (participants.empty()) return input_error("nothing to measure: no handles are given");
  HONE_TRY(check(request.protocol));
  const double start = device::raw_seconds();
  const device::MachineState before = device.machine_state();
  SampleLoop loop(device, request);
  for (const Participant& participant : participants) HONE_TRY(loop.add(participant));
  HONE_TRY(loop.run_rounds());
  MeasureResult result = loop.result();
  result.before = before;
  result.after = device.machine_state();
  result.seconds = device::raw_seconds() - start;
  return result;
}

}  // namespace hone::measure
