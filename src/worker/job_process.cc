#include "worker/job_process.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

#include "base/process.h"
#include "base/process_tree.h"
#include "base/text.h"
#include "worker/session_folder.h"

namespace hone::worker {
namespace {

using provider::Failure;
using provider::FailureKind;

// The first steps of a forked child.
void settle(pid_t parent, const std::filesystem::path& folder, int printed) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (::getppid() != parent) ::_exit(1);  // it died before the line above
  ::setpgid(0, 0);
  ::signal(SIGPIPE, SIG_DFL);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::dup2(printed, STDOUT_FILENO);
  ::dup2(printed, STDERR_FILENO);
  ::setenv("TMPDIR", folder.c_str(), 1);
}

std::uint64_t resident_bytes_of_job(pid_t pid) {
  std::uint64_t bytes = tree_resident_bytes(pid);
  for (const pid_t child : children_of(::getpid()))  // orphans of its group
    if (child != pid && process_group_of(child) == pid) bytes += tree_resident_bytes(child);
  return bytes;
}

}  // namespace

Result<JobProcess> JobProcess::start(std::filesystem::path folder, const JobLimits& limits,
                                     const std::function<void(UniqueFd socket)>& work) {
  std::error_code code;
  std::filesystem::create_directories(folder, code);
  if (code)
    return environment_error("cannot make the job's folder '{}': {}", folder.string(),
                             code.message());
  HONE_ASSIGN(FdPair sockets, make_stream_socket_pair());
  HONE_ASSIGN(FdPair printed, make_pipe());
  HONE_TRY(set_nonblocking(printed.first.get(), true));
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return environment_error("cannot fork: {}", std::strerror(errno));
  if (pid == 0) {
    settle(parent, folder, printed.second.get());
    printed.first.reset();
    printed.second.reset();
    sockets.first.reset();
    work(std::move(sockets.second));
    std::fflush(nullptr);
    ::_exit(0);
  }
  ::setpgid(pid, pid);  // here too: the parent may want to kill the group before the child ran
  return JobProcess(pid, std::move(sockets.first), std::move(printed.first), std::move(folder),
                    limits);
}

JobProcess::JobProcess(pid_t pid, UniqueFd socket, UniqueFd printed, std::filesystem::path folder,
                       const JobLimits& limits)
    : pid_(pid),
      exit_(open_pid(pid)),
      connection_(std::move(socket)),
      printed_(std::move(printed)),
      words_(limits.output_bytes),
      folder_(std::move(folder)),
      limits_(limits) {}

double JobProcess::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void JobProcess::lift_limits() {
  limits_.seconds = 0, limits_.memory_bytes = 0;
}

void JobProcess::add_poll_entries(std::vector<pollfd>& entries) const {
  if (!connection_.is_closed()) entries.push_back({connection_.fd(), connection_.poll_events(), 0});
  if (printed_) entries.push_back({printed_.get(), POLLIN, 0});
  if (exit_) entries.push_back({exit_.get(), POLLIN, 0});
}

Event JobProcess::look() {
  const bool ended = has_ended(pid_);  // before reading: what it said last is then there
  connection_.flush();
  connection_.fill();
  if (printed_ && read_available(printed_.get(), words_) == ReadState::kEnd) printed_.reset();
  auto message = connection_.next();
  if (!message)
    return {{},
            with_last_words({FailureKind::kCompileCrash,
                             "its answer cannot be read: " + message.error().message})};
  if (*message) return {std::move(*message), {}};
  if (ended) return {{}, with_last_words(how_it_died())};
  if (limits_.seconds > 0 && seconds() > limits_.seconds)
    return {{},
            with_last_words({FailureKind::kCompileTimeout,
                             fmt::format("no end after {}", format_duration(limits_.seconds))})};
  const auto now = std::chrono::steady_clock::now();
  if (limits_.memory_bytes == 0 || now < next_look_) return {};
  next_look_ = now + kLookInterval;
  if (resident_bytes_of_job(pid_) <= limits_.memory_bytes) return {};
  return {{},
          with_last_words({FailureKind::kCompileMemory, more_memory_than(limits_.memory_bytes)})};
}

Failure JobProcess::how_it_died() const {
  siginfo_t info{};
  ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
  if (info.si_code == CLD_EXITED)
    return {FailureKind::kCompileCrash,
            fmt::format("exit code {} without an answer", info.si_status)};
  std::string how = signal_name(info.si_status);
  if (info.si_status == SIGKILL) how += ", not sent by hone: the system may be out of memory";
  return {
      provider::died_of(info.si_status, FailureKind::kCompileCrash, FailureKind::kCompileKilled),
      how};
}

Outcome JobProcess::outcome_in(Message message) const {
  Outcome outcome = outcome_from(std::move(message));
  if (!outcome) outcome = tl::unexpected(with_last_words(std::move(outcome.error())));
  return outcome;
}

Failure JobProcess::with_last_words(Failure failure) const {
  std::string words = words_.text();
  while (!words.empty() && (words.back() == '\n' || words.back() == '\0')) words.pop_back();
  if (!words.empty()) failure.message += (failure.message.empty() ? "" : "\n") + words;
  return failure;
}

void JobProcess::end() {
  kill_tree(pid_);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  remove_folder(folder_);
}

std::string more_memory_than(std::uint64_t bytes) {
  return fmt::format("more than {:.2f} GiB of memory", static_cast<double>(bytes) / (1 << 30));
}

JobLimits of_try(JobLimits limits, bool is_second) {
  if (is_second) limits.seconds *= 2;
  return limits;
}

double seconds_of_both_tries(const JobLimits& limits) {
  return limits.seconds + of_try(limits, true).seconds;
}

bool end_orphans(const std::vector<pid_t>& known) {
  const auto is_known = [&](pid_t pid) { return std::ranges::count(known, pid) > 0; };
  bool left = false;
  for (const pid_t child : children_of(::getpid())) {
    if (is_known(child)) continue;
    if (!is_known(process_group_of(child))) kill_tree(child), ::kill(child, SIGKILL);
    left = ::waitpid(child, nullptr, WNOHANG) != child || left;
  }
  return left;
}

Outcome guarded(const std::function<Outcome(Message)>& handler, Message message,
                FailureKind on_exception) {
  if (!handler) return tl::unexpected(Failure{on_exception, "no such job is served here"});
  try {
    return handler(std::move(message));
  } catch (const std::exception& exception) {
    return tl::unexpected(Failure{on_exception, exception.what()});
  } catch (...) {
    return tl::unexpected(Failure{on_exception, "an exception of unknown type"});
  }
}

void answer(int socket, Outcome outcome) {
  std::fflush(nullptr);
  const Message message = outcome ? std::move(*outcome) : to_message(outcome.error());
  const Status sent = write_message(socket, message);
  if (!sent)
    write_message(socket, to_message(Failure{FailureKind::kCompileError, sent.error().message}));
}

}  // namespace hone::worker
