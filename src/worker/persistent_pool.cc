#include "worker/persistent_pool.h"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <future>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/process_tree.h"
#include "base/text.h"
#include "worker/job_process.h"
#include "worker/worker_process.h"

namespace hone::worker {
namespace {

using provider::Failure;
using provider::FailureKind;

// Id of once-jobs and of prepare() requests; the tuner's ids are candidates'.
constexpr JobId kOwnJob = ~JobId{0};

bool passed_a_limit(const Failure& failure) {
  return failure.kind == FailureKind::kCompileTimeout ||
         failure.kind == FailureKind::kCompileMemory;
}

constexpr std::chrono::milliseconds kMemoryLook{100};

std::uint64_t memory_of(pid_t pid) {
  std::uint64_t bytes = resident_bytes(pid);
  for (const pid_t each : descendants_of(pid)) bytes += resident_bytes(each);
  return bytes;
}

struct PersistentJob {
  JobId id = 0;
  std::string key;  // of what must be prepared before; empty: nothing
  Message message;
  std::optional<Message> prepare;  // what `key` stands for
  std::string work = {};       // PersistentPoolOptions::same_work of it; empty: unlike any other
  bool is_second_try = false;  // of one that was killed or passed its time: it has twice that
};

// A worker of the pool: its process and its current job.
class PersistentWorker {
 public:
  // Starts nothing yet. `options` must outlive the worker.
  explicit PersistentWorker(const PersistentPoolOptions& options) : options_(&options) {}

  // Starts the process if none lives. Returns an environment error with its words.
  Status start();

  bool is_busy() const { return job_.has_value(); }
  // Id of the present job if it needs what is prepared as `key`.
  std::optional<JobId> job_of(const std::string& key) const {
    return job_ && job_->key == key ? std::optional(job_->id) : std::nullopt;
  }

  // Hands a job to an idle worker, starting a process if there is none.
  Status begin(PersistentJob job);

  // Returns the job's result once it is there. After a crash or an exceeded limit the process is
  // gone.
  std::optional<Finished> look();

  // Returns the job that must be handed to a worker once more. look() found it killed or too slow
  // for the first time, and gave no result for it.
  std::optional<PersistentJob> take_again() { return std::exchange(again_, std::nullopt); }

  // Drops the job's result. The job runs to its end, which costs less than a new process.
  void forget() { forgotten_ = true; }
  bool is_forgotten() const { return forgotten_; }

  void add_poll_entries(std::vector<pollfd>& entries) const;
  int restarts() const { return restarts_; }

 private:
  std::optional<Finished> finish(Outcome outcome);
  std::optional<Finished> die(provider::FailureKind kind, std::string why);
  double seconds() const;  // since the job began

  const PersistentPoolOptions* options_;
  std::optional<WorkerProcess> session_;
  std::optional<PersistentJob> job_;
  std::optional<PersistentJob> again_;
  std::string key_;
  bool preparing_ = false;  // the next answer is that of the job's preparation
  bool forgotten_ = false;
  int restarts_ = -1;
  std::chrono::steady_clock::time_point begin_;
  std::chrono::steady_clock::time_point next_look_;
};

Status PersistentWorker::start() {
  if (session_ && !session_->is_gone()) return {};
  session_.reset();
  key_.clear();
  HONE_ASSIGN(WorkerProcess session, WorkerProcess::start("compile worker", *options_));
  session_.emplace(std::move(session));
  ++restarts_;
  return {};
}

Status PersistentWorker::begin(PersistentJob job) {
  HONE_TRY(start());
  session_->forget_words();
  begin_ = next_look_ = std::chrono::steady_clock::now();
  preparing_ = job.prepare.has_value() && job.key != key_;
  forgotten_ = false;
  job_ = std::move(job);
  // An answer is owed for each; the worker takes them in order.
  Status sent;
  if (preparing_) sent = session_->connection().send(*job_->prepare);
  if (sent) sent = session_->connection().send(job_->message);
  // A worker that has just died is found by look(); a message too large is the job's failure.
  if (!sent && !session_->connection().is_closed()) {
    job_.reset();
    return sent;
  }
  key_ = job_->prepare ? job_->key : "";
  return {};
}

double PersistentWorker::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

std::optional<Finished> PersistentWorker::finish(Outcome outcome) {
  PersistentJob job = std::move(*job_);
  job_.reset();
  if (std::exchange(forgotten_, false)) return std::nullopt;
  if (is_tried_again(outcome, job.is_second_try)) {
    job.is_second_try = true;
    again_ = std::move(job);
    return std::nullopt;
  }
  return Finished{job.id, std::move(outcome), seconds()};
}

std::optional<Finished> PersistentWorker::die(FailureKind kind, std::string why) {
  Failure failure = session_->fail(kind, std::move(why), FailureKind::kCompileKilled);
  session_.reset();
  key_.clear();
  return finish(tl::unexpected(std::move(failure)));
}

std::optional<Finished> PersistentWorker::look() {
  if (!job_) return std::nullopt;
  session_->wait(/*seconds=*/0, /*stop_fd=*/-1);
  const bool gone = session_->is_gone();  // before reading: what it said last is then there
  auto reply = session_->connection().next();
  if (!reply)
    return die(FailureKind::kCompileCrash, "its answer cannot be read: " + reply.error().message);
  if (*reply) {
    Outcome outcome = outcome_from(std::move(**reply));
    if (!std::exchange(preparing_, false)) return finish(std::move(outcome));
    if (outcome) return look();
    // The key could be prepared before but not now, so this job cannot run either.
    return die(FailureKind::kCompileError, outcome.error().message);
  }
  if (gone) return die(FailureKind::kCompileCrash, "");
  const JobLimits limits = of_try(options_->limits, job_->is_second_try);
  if (limits.seconds > 0 && seconds() > limits.seconds)
    return die(FailureKind::kCompileTimeout,
               fmt::format("no answer after {}", format_duration(limits.seconds)));
  const auto now = std::chrono::steady_clock::now();
  if (limits.memory_bytes > 0 && now >= next_look_) {
    next_look_ = now + kMemoryLook;
    if (memory_of(session_->process().pid()) > limits.memory_bytes)
      return die(FailureKind::kCompileMemory, more_memory_than(limits.memory_bytes));
  }
  return std::nullopt;
}

void PersistentWorker::add_poll_entries(std::vector<pollfd>& entries) const {
  if (job_) session_->add_poll_entries(entries);
}

}  // namespace

struct PersistentPool::State {
  PersistentPoolOptions options;
  std::vector<PersistentWorker> workers;
  std::map<std::string, Message> prepared;
  std::set<std::string> hurried;  // keys
  std::deque<PersistentJob> waiting;
  std::deque<Finished> finished;
  std::map<std::string, JobId> works_in_flight;  // the first job of each
  std::set<std::string> works_done;
  std::map<std::string, Failure> works_given_up;  // which passed a limit
  std::vector<std::future<Status>> starts;        // of the workers; empty once they have come up

  Status wait_for_starts() {
    Status started;
    for (std::future<Status>& each : starts) {
      Status status = each.get();
      if (started && !status) started = std::move(status);
    }
    starts.clear();
    return started;
  }

  bool any_running() const { return std::ranges::any_of(workers, &PersistentWorker::is_busy); }

  bool is_waited_for(const PersistentJob& job) const {
    return job.id == kOwnJob || hurried.contains(job.key);
  }

  Status hand_out() {
    HONE_TRY(wait_for_starts());
    for (PersistentWorker& worker : workers) {
      if (worker.is_busy()) continue;
      const bool is_kept = &worker == &workers.back();
      const auto next = std::ranges::find_if(waiting, [&](const auto& job) {
        return !works_in_flight.contains(job.work) && (!is_kept || is_waited_for(job));
      });
      if (next == waiting.end()) return {};
      if (!next->work.empty() && !works_done.contains(next->work))
        works_in_flight[next->work] = next->id;
      PersistentJob job = std::move(*next);
      waiting.erase(next);
      HONE_TRY(worker.begin(std::move(job)));
    }
    return {};
  }

  // A refusal is as fast the next time, so waiting jobs of the same work still run. An exceeded
  // limit would cost a worker each time, so they fail too.
  void finish_work(const Finished& done) {
    const auto work =
        std::ranges::find(works_in_flight, done.id, [](const auto& each) { return each.second; });
    if (work == works_in_flight.end()) return;
    if (!done.outcome && passed_a_limit(done.outcome.error()))
      give_up(work->first, done.outcome.error());
    else
      works_done.insert(work->first);
    works_in_flight.erase(work);
  }

  void give_up(const std::string& work, Failure failure) {
    failure.message += "\n(of another candidate with the same code; not compiled again)";
    for (const PersistentJob& job : waiting)
      if (job.work == work) finished.push_back({job.id, tl::unexpected(failure), 0});
    std::erase_if(waiting, [&](const PersistentJob& job) { return job.work == work; });
    works_given_up.emplace(work, std::move(failure));
  }

  void drop_jobs_of(const std::string& key) {
    std::erase_if(waiting, [&](const PersistentJob& job) { return job.key == key; });
    if (!starts.empty()) return;  // nothing has been handed out
    for (PersistentWorker& worker : workers) {
      const std::optional<JobId> dropped = worker.job_of(key);
      if (!dropped) continue;
      worker.forget();
      std::erase_if(works_in_flight, [&](const auto& entry) { return entry.second == dropped; });
    }
  }

  // Waits at most `seconds` for a worker's message, and collects it.
  Status look(double seconds) {
    std::vector<pollfd> entries{{options.stop_fd, POLLIN, 0}};
    for (const PersistentWorker& worker : workers) worker.add_poll_entries(entries);
    // Memory and time are looked at in between.
    constexpr double kLookSeconds = 0.1;
    if (any_running() && (seconds < 0 || seconds > kLookSeconds)) seconds = kLookSeconds;
    const int milliseconds =
        seconds < 0 ? -1 : static_cast<int>(std::ceil(std::min(seconds, 1e6) * 1000));
    ::poll(entries.data(), entries.size(), milliseconds);
    if (is_readable(options.stop_fd)) return interrupted();
    for (PersistentWorker& worker : workers) {
      if (auto done = worker.look()) {
        finish_work(*done);
        finished.push_back(std::move(*done));
      }
      if (auto again = worker.take_again()) {
        works_in_flight.erase(again->work);  // its own hold, without which it may begin
        waiting.push_front(std::move(*again));
      }
    }
    return {};
  }

  std::optional<Finished> take(bool own) {
    const auto found = std::ranges::find_if(
        finished, [own](const Finished& each) { return (each.id == kOwnJob) == own; });
    if (found == finished.end()) return std::nullopt;
    Finished taken = std::move(*found);
    finished.erase(found);
    return taken;
  }

  Result<std::optional<Finished>> wait_for(bool own, double seconds) {
    const auto begin = std::chrono::steady_clock::now();
    while (true) {
      if (auto done = take(own)) return done;
      HONE_TRY(hand_out());
      if (!any_running() && waiting.empty()) return std::nullopt;
      const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - begin;
      const double left = seconds < 0 ? -1 : std::max(0.0, seconds - waited.count());
      // Without time left too: a worker's death and the stop signal are seen nowhere else.
      HONE_TRY(look(left));
      if (left == 0) return take(own);
    }
  }

  Result<Outcome> run_now(PersistentJob job) {
    waiting.push_front(std::move(job));
    HONE_ASSIGN(std::optional<Finished> done, wait_for(/*own=*/true, /*seconds=*/-1));
    if (!done) return failure("a compile worker lost its job");
    return std::move(done->outcome);
  }
};

Result<std::unique_ptr<PersistentPool>> PersistentPool::start(PersistentPoolOptions options) {
  auto state = std::make_unique<State>();
  state->options = std::move(options);
  const int kept = 1;
  for (int i = 0; i < std::max(1, state->options.workers) + kept; ++i)
    state->workers.emplace_back(state->options);
  // Importing a compiler takes a second on one core.
  for (PersistentWorker& worker : state->workers)
    state->starts.push_back(std::async(std::launch::async, [&worker] { return worker.start(); }));
  return std::unique_ptr<PersistentPool>(new PersistentPool(std::move(state)));
}

PersistentPool::PersistentPool(std::unique_ptr<State> state) : state_(std::move(state)) {}
PersistentPool::~PersistentPool() {
  (void)state_->wait_for_starts();
}

Result<Outcome> PersistentPool::once(const Message& message) {
  return state_->run_now({kOwnJob, "", message, std::nullopt});
}

Result<Outcome> PersistentPool::prepare(const std::string& key, const Message& message) {
  HONE_ASSIGN(Outcome outcome, state_->run_now({kOwnJob, "", message, std::nullopt}));
  if (outcome)
    state_->prepared.insert_or_assign(key, message);
  else
    state_->prepared.erase(key);
  return outcome;
}

Status PersistentPool::release(const std::string& key) {
  state_->prepared.erase(key);
  state_->hurried.erase(key);
  state_->drop_jobs_of(key);
  return {};
}

void PersistentPool::hurry(const std::string& key) {
  state_->hurried.insert(key);
}

Status PersistentPool::submit(const std::string& key, JobId id, const Message& message) {
  const auto found = state_->prepared.find(key);
  if (found == state_->prepared.end()) return input_error("nothing is prepared as '{}'", key);
  PersistentJob job{id, key, message, found->second};
  if (state_->options.same_work)
    if (const std::string work = state_->options.same_work(message); !work.empty())
      job.work = key + work;
  if (const auto given_up = state_->works_given_up.find(job.work);
      given_up != state_->works_given_up.end()) {
    state_->finished.push_back({id, tl::unexpected(given_up->second), 0});
    return {};
  }
  const auto behind = [&](const PersistentJob& other) {
    return state_->is_waited_for(job) && !state_->is_waited_for(other);
  };
  state_->waiting.insert(std::ranges::find_if(state_->waiting, behind), std::move(job));
  return state_->hand_out();
}

Result<std::optional<Finished>> PersistentPool::next_finished(double seconds) {
  return state_->wait_for(/*own=*/false, seconds);
}

std::size_t PersistentPool::outstanding() const {
  std::size_t count = state_->waiting.size() + state_->finished.size();
  if (!state_->starts.empty()) return count;
  for (const PersistentWorker& worker : state_->workers)
    if (worker.is_busy() && !worker.is_forgotten()) ++count;
  return count;
}

Status PersistentPool::cancel(const std::string& key) {
  state_->drop_jobs_of(key);
  return {};
}

int PersistentPool::restarts() const {
  if (!state_->starts.empty()) return 0;
  int count = 0;
  for (const PersistentWorker& worker : state_->workers) count += worker.restarts();
  return count;
}

}  // namespace hone::worker
