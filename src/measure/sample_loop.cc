#include "measure/sample_loop.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <thread>

#include "measure/inputs.h"

namespace hone::measure {
namespace {

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
