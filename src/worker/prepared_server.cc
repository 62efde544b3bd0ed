#include "worker/prepared_server.h"

#include <map>

#include "base/process_tree.h"
#include "worker/job_process.h"

namespace hone::worker {
namespace {

using provider::Failure;
using provider::FailureKind;

class PreparedServer {
 public:
  PreparedServer(UniqueFd socket, const CompileHandlers& handlers, const TreeSettings& settings,
                 const std::filesystem::path& folder)
      : zygote_(std::move(socket)), handlers_(handlers), settings_(settings), folder_(folder) {}

  void serve() {
    while (!zygote_.is_closed()) {
      wait();
      zygote_.flush();
      zygote_.fill();
      if (!take_orders()) break;
      look_at_jobs();
      orphans_left_ = end_orphans(pids());
    }
    end_jobs();
  }

 private:
  struct Job {
    JobProcess process;
    Message message;
    bool is_second_try;
  };

  void wait() {
    std::vector<pollfd> entries{{zygote_.fd(), zygote_.poll_events(), 0}};
    for (const auto& [id, job] : jobs_) job.process.add_poll_entries(entries);
    const bool has_to_look = !jobs_.empty() || orphans_left_;
    ::poll(entries.data(), entries.size(),
           has_to_look ? static_cast<int>(kLookInterval.count()) : -1);
  }

  // False when the zygote says what cannot be understood.
  bool take_orders() {
    while (true) {
      auto order = zygote_.next();
      if (!order) return false;
      if (!*order) return true;
      if ((*order)->kind == "cancel") {
        end_jobs();
      } else if ((*order)->kind == "run") {
        const auto id = number_field(**order, "id");
        if (!id) return false;
        start(*id, unwrap(std::move(**order)), /*is_second_try=*/false);
      } else {
        return false;
      }
    }
  }

  void start(std::uint64_t id, Message message, bool is_second_try) {
    const JobLimits limits = is_second_try ? of_second_try(settings_.run) : settings_.run;
    auto job = JobProcess::start(folder_ / fmt::format("job-{}", id), limits, [&](UniqueFd socket) {
      jobs_.clear();
      zygote_ = Connection(UniqueFd());
      answer(socket.get(), guarded(handlers_.run, message, FailureKind::kCompileError));
    });
    if (job)
      jobs_.emplace(id, Job{std::move(*job), std::move(message), is_second_try});
    else
      send_report(zygote_, id, 0,
                  tl::unexpected(Failure{FailureKind::kCompileCrash, job.error().message}));
  }

  void look_at_jobs() {
    for (auto at = jobs_.begin(); at != jobs_.end();) {
      auto& [id, job] = *at;
      auto outcome = take_outcome(job.process);
      if (!outcome) {
        ++at;
      } else if (is_tried_again(*outcome, job.is_second_try)) {
        const std::uint64_t again = id;
        Message message = std::move(job.message);
        at = jobs_.erase(at);
        start(again, std::move(message), /*is_second_try=*/true);
      } else {
        send_report(zygote_, id, job.process.seconds(), std::move(*outcome));
        at = jobs_.erase(at);
      }
    }
  }

  void end_jobs() {
    for (auto& [id, job] : jobs_) job.process.end();
    jobs_.clear();
  }

  std::vector<pid_t> pids() const {
    std::vector<pid_t> pids;
    for (const auto& [id, job] : jobs_) pids.push_back(job.process.pid());
    return pids;
  }

  Connection zygote_;
  const CompileHandlers& handlers_;
  const TreeSettings& settings_;
  const std::filesystem::path& folder_;
  std::map<std::uint64_t, Job> jobs_;
  bool orphans_left_ = false;
};

}  // namespace

void serve_prepared(UniqueFd socket, const Message& message, const CompileHandlers& handlers,
                    const TreeSettings& settings, const std::filesystem::path& folder) {
  become_subreaper();
  Outcome outcome = guarded(handlers.prepare, message, FailureKind::kCompileError);
  const bool prepared = outcome.has_value();
  answer(socket.get(), std::move(outcome));
  if (prepared) PreparedServer(std::move(socket), handlers, settings, folder).serve();
}

}  // namespace hone::worker
