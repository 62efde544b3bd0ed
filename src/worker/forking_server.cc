#include "worker/forking_server.h"

#include <fmt/format.h>

#include <utility>

namespace hone::worker {
namespace {

using provider::Failure;
using provider::FailureKind;

// Returns the outcome of a child once it is there; the child has then been ended.
std::optional<Outcome> take_outcome(JobProcess& job) {
  Event event = job.look();
  if (!event.message && !event.failure) return std::nullopt;
  Outcome outcome = event.failure ? Outcome(tl::unexpected(std::move(*event.failure)))
                                  : outcome_from(std::move(*event.message));
  if (!outcome) outcome = tl::unexpected(job.with_last_words(std::move(outcome.error())));
  job.end();
  return outcome;
}

}  // namespace

bool ForkingServer::serve() {
  bool understood = true;
  while (understood && !asker_.is_closed()) {
    wait();
    asker_.flush();
    asker_.fill();
    understood = take_orders();
    look_at_jobs();
    look();
    orphans_left_ = end_orphans(pids());
  }
  return understood;
}

void ForkingServer::wait() {
  std::vector<pollfd> entries{{asker_.fd(), asker_.poll_events(), 0}};
  for (const auto& [id, job] : jobs_) job.process.add_poll_entries(entries);
  const bool has_to_look = add_poll_entries(entries) || !jobs_.empty() || orphans_left_;
  ::poll(entries.data(), entries.size(),
         has_to_look ? static_cast<int>(kLookInterval.count()) : -1);
}

bool ForkingServer::take_orders() {
  while (true) {
    auto order = asker_.next();
    if (!order) return false;
    if (!*order) return true;
    if (!take_order(std::move(**order))) return false;
  }
}

bool ForkingServer::take_order(Message order) {
  if (order.kind == "cancel") {
    end_jobs();
    return true;
  }
  const auto id = number_field(order, "id");
  if (order.kind != "run" || !id) return false;
  start(*id, unwrap(std::move(order)));
  return true;
}

void ForkingServer::start(std::uint64_t id, Message message, std::optional<double> most_seconds,
                          bool is_second_try) {
  JobLimits limits = of_try(settings_.*limits_, is_second_try);
  if (most_seconds) limits.seconds = *most_seconds;
  auto job =
      JobProcess::start(folder_ / fmt::format("{}-{}", name_, id), limits, [&](UniqueFd socket) {
        let_go();
        answer(socket.get(), guarded(handler_, std::move(message), FailureKind::kCompileError));
      });
  if (job)
    jobs_.emplace(id, Job{std::move(*job), std::move(message), most_seconds, is_second_try});
  else
    report(id, 0, tl::unexpected(Failure{FailureKind::kCompileCrash, job.error().message}));
}

void ForkingServer::look_at_jobs() {
  for (auto at = jobs_.begin(); at != jobs_.end();) {
    auto& [id, job] = *at;
    auto outcome = take_outcome(job.process);
    if (!outcome) {
      ++at;
    } else if (is_tried_again(*outcome, job.is_second_try) &&
               !(job.most_seconds && outcome->error().kind == FailureKind::kCompileTimeout)) {
      const std::uint64_t again = id;
      const std::optional<double> most_seconds = job.most_seconds;
      Message message = std::move(job.message);
      at = jobs_.erase(at);
      start(again, std::move(message), most_seconds, /*is_second_try=*/true);
    } else {
      report(id, job.process.seconds(), std::move(*outcome));
      at = jobs_.erase(at);
    }
  }
}

void ForkingServer::report(std::uint64_t id, double seconds, Outcome outcome) {
  const Status sent = asker_.send(to_report(id, seconds, std::move(outcome)));
  if (!sent)
    (void)asker_.send(to_report(
        id, seconds, tl::unexpected(Failure{FailureKind::kCompileError, sent.error().message})));
}

void ForkingServer::end_jobs() {
  for (auto& [id, job] : jobs_) job.process.end();
  jobs_.clear();
}

std::vector<pid_t> ForkingServer::pids() const {
  std::vector<pid_t> pids;
  for (const auto& [id, job] : jobs_) pids.push_back(job.process.pid());
  return pids;
}

void ForkingServer::let_go() {
  jobs_.clear();
  asker_ = Connection(UniqueFd());
}

}  // namespace hone::worker
