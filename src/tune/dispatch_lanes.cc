// Measuring a dispatch's trials on one device, or shared out over several of one kind.
#include <algorithm>
#include <cmath>
#include <future>

#include "measure/statistics.h"
#include "tune/dispatch_bench.h"
#include "tune/records.h"

namespace hone::tune {
namespace {

// Handles that are measured together: enough to share one sentinel, few enough that a round stays
// short against the drift it is to cancel.
constexpr std::size_t kMeasuredTogether = 8;
// Below this nobody would choose a device by it.
constexpr double kNoDifference = 0.005;

}  // namespace

// The others' references are computed while the first one's is.
Status DispatchBench::set_problem(const measure::ProblemRequest& problem) {
  for (std::size_t i = 0; i <= context_->more_runners.size(); ++i)
    lanes_.push_back({context_->runner_of(i), context_->options.places.at(i).address});
  const auto set = [&problem](Lane& lane) {
    measure::ProblemRequest request = problem;
    request.device = lane.device;
    return lane.runner->set_problem(request);
  };
  std::vector<std::future<Result<measure::ProblemReady>>> others;
  for (std::size_t i = 1; i < lanes_.size(); ++i)
    others.push_back(std::async(std::launch::async, set, std::ref(lanes_[i])));
  const Result<measure::ProblemReady> first = set(lanes_.front());
  Status status;
  for (auto& other : others)
    if (const auto ready = other.get(); !ready) status = tl::unexpected(ready.error());
  HONE_TRY(first);
  HONE_TRY(status);
  if (!first->note.empty()) context_->observer.note(first->note);
  if (reference_.empty()) reference_ = first->reference;
  return {};
}

Status DispatchBench::measure(std::vector<Trial>& trials) {
  Queue queue{trials};
  std::vector<std::future<Status>> others;
  // The default is the first to be measured, and what the others compare with.
  const std::size_t lanes = default_seconds_ > 0 ? lanes_.size() : 1;
  for (std::size_t i = 1; i < lanes; ++i)
    others.push_back(std::async(std::launch::async, [&, i] { return work(lanes_[i], queue); }));
  Status status = work(lanes_.front(), queue);
  for (auto& other : others)
    if (Status ended = other.get(); status && !ended) status = std::move(ended);
  HONE_TRY(status);
  for (Trial& trial : trials) {
    if (!trial.done()) HONE_TRY(skip_known(trial));  // shares the code of one just measured
    trial.elsewhere =
        !trial.done() && (trial.elsewhere || queue.elsewhere.count(trial.identity) > 0);
  }
  return {};
}

Status DispatchBench::work(Lane& lane, Queue& queue) {
  Lock lock(*mutex_);
  const auto measure_groups = [&]() -> Status {
    while (!queue.stopped) {
      std::vector<Trial*> group;
      HONE_TRY(context_->store.together([&]() -> Status {
        HONE_ASSIGN(group, next_group(queue));
        return {};
      }));
      if (group.empty()) return {};
      HONE_TRY(measure_together(lane, lock, group));
      HONE_TRY(context_->store.together([&]() -> Status {
        for (const Trial* trial : group) HONE_TRY(give_back(measure_key_of(*trial)));
        return {};
      }));
    }
    return {};
  };
  Status status = measure_groups();
  if (!status) queue.stopped = true;
  return status;
}

// Taken group by group: what is not begun here, another tuner may do.
Result<std::vector<Trial*>> DispatchBench::next_group(Queue& queue) {
  std::vector<Trial*> group;
  const std::size_t share = (queue.trials.size() - queue.next + lanes_.size() - 1) / lanes_.size();
  const std::size_t most = std::clamp<std::size_t>(share, 1, kMeasuredTogether);
  while (queue.next < queue.trials.size() && group.size() < most) {
    Trial& trial = queue.trials[queue.next++];
    if (trial.done() || trial.elsewhere || trial.identity.empty()) continue;
    if (!queue.begun.insert(trial.identity).second) continue;
    // What a compile gave may be code that was measured before, under another configuration; the
    // lease is on the code.
    const std::string key = measure_key_of(trial);
    HONE_ASSIGN(const bool mine, claim(trial, key));
    if (trial.elsewhere) queue.elsewhere.insert(trial.identity);
    if (mine && trial.done()) HONE_TRY(give_back(key));
    if (mine && !trial.done()) group.push_back(&trial);
  }
  return group;
}

std::string DispatchBench::differing_devices() const {
  struct Seen {
    std::string device;
    double median;
    measure::Interval interval;
  };
  std::vector<Seen> seen;
  for (const Lane& lane : lanes_)
    if (!lane.sentinel_seconds.empty())
      seen.push_back({device::name_of(lane.device), measure::median(lane.sentinel_seconds),
                      measure::median_interval(lane.sentinel_seconds)});
  if (seen.size() < 2) return {};
  const auto [fast, slow] = std::minmax_element(
      seen.begin(), seen.end(), [](const Seen& a, const Seen& b) { return a.median < b.median; });
  const double difference = slow->median / fast->median - 1;
  if (difference < kNoDifference || !(slow->interval.low > fast->interval.high)) return {};
  return fmt::format(
      "{} runs the default of '{}' in {:.2f} % more time than {}, which is more than their noise; "
      "each candidate was compared with the default on its own device",
      slow->device, name_, 100 * difference, fast->device);
}

}  // namespace hone::tune
