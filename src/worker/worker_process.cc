#include "worker/worker_process.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/process_tree.h"
#include "base/text.h"
#include "worker/fork_server.h"
#include "worker/session_folder.h"

namespace hone::worker {
namespace {

// Bytes kept of a worker's output.
constexpr std::size_t kWordsBytes = std::size_t{64} << 10;
// Interval of the looks at its memory; shorter ones would disturb what it measures.
constexpr double kMemoryLookSeconds = 0.25;

}  // namespace

Result<WorkerProcess> WorkerProcess::start(std::string_view what, const WorkerOptions& options) {
  std::filesystem::path folder = new_session_folder(options.temporary);
  remove_abandoned_folders(folder.parent_path());
  Command run{options.command, options.environment, {}};
  run.environment.emplace_back(kFolderVariable, folder.string());
  HONE_ASSIGN(ChildProcess process, ChildProcess::start(run));
  WorkerProcess worker(std::move(folder), std::move(process));
  const auto begin = std::chrono::steady_clock::now();
  while (true) {
    auto message = worker.connection_.next();
    if (message && *message && (*message)->kind == "hello") return worker;
    if (is_readable(options.stop_fd)) return interrupted();
    const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - begin;
    const bool late = waited.count() > options.start_seconds;
    if (!message || *message || worker.is_gone() || late) break;
    worker.wait(options.start_seconds - waited.count(), options.stop_fd);
  }
  const bool gone = worker.is_gone();
  worker.end(gone ? 1 : 0);
  if (!gone)
    return environment_error("the {} '{}' did not say hello in {}: {}", what,
                             fmt::join(options.command, " "),
                             format_duration(options.start_seconds), worker.last_words());
  return environment_error("the {} '{}' did not start: {}", what, fmt::join(options.command, " "),
                           worker.last_words());
}

WorkerProcess::WorkerProcess(std::filesystem::path folder, ChildProcess process)
    : folder_(std::move(folder)),
      process_(std::move(process)),
      connection_(process_.take_socket()),
      words_(kWordsBytes) {}

WorkerProcess::WorkerProcess(WorkerProcess&& other) noexcept
    : folder_(std::exchange(other.folder_, {})),
      process_(std::move(other.process_)),
      connection_(std::move(other.connection_)),
      words_(std::move(other.words_)),
      words_ended_(other.words_ended_) {}

WorkerProcess::~WorkerProcess() {
  if (!folder_.empty()) end(/*seconds=*/5);
}

void WorkerProcess::add_poll_entries(std::vector<pollfd>& entries) const {
  if (!connection_.is_closed()) entries.push_back({connection_.fd(), connection_.poll_events(), 0});
  if (!words_ended_) entries.push_back({process_.error_pipe(), POLLIN, 0});
  entries.push_back({process_.exit_fd(), POLLIN, 0});
}

void WorkerProcess::wait(double seconds, int stop_fd) {
  std::vector<pollfd> entries{{stop_fd, POLLIN, 0}};
  add_poll_entries(entries);
  // Without a descriptor for its end (before Linux 5.3) the closed socket tells.
  const int milliseconds =
      seconds <= 0 ? (seconds < 0 ? -1 : 0) : static_cast<int>(std::min(seconds, 1e6) * 1000) + 1;
  ::poll(entries.data(), entries.size(), milliseconds);
  connection_.flush();
  connection_.fill();
  read_words();
}

bool WorkerProcess::is_gone() {
  if (!connection_.is_closed() && !process_.has_ended()) return false;
  connection_.fill();
  return true;
}

tl::expected<Message, NoAnswer> WorkerProcess::ask(const Message& message,
                                                   const AskLimits& limits) {
  forget_words();
  if (const Status sent = connection_.send(message); !sent)
    return tl::unexpected(NoAnswer{NoAnswer::Reason::kNotSent, sent.error().message});
  return hear(limits);
}

tl::expected<Message, NoAnswer> WorkerProcess::hear(const AskLimits& limits) {
  using enum NoAnswer::Reason;
  const auto none = [](NoAnswer::Reason reason, std::string words = {}) {
    return tl::unexpected(NoAnswer{reason, std::move(words)});
  };
  const auto begin = std::chrono::steady_clock::now();
  while (true) {
    const bool gone = is_gone();  // before reading: what it said last is then there
    auto reply = connection_.next();
    if (!reply) return none(kUnreadable, reply.error().message);
    if (*reply) return std::move(**reply);
    if (gone) return none(kGone);
    if (is_readable(limits.stop_fd)) return none(kStopped);
    const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - begin;
    if (limits.seconds > 0 && waited.count() >= limits.seconds) return none(kLate);
    if (limits.memory_bytes > 0 && resident_bytes(process_.pid()) > limits.memory_bytes)
      return none(kTooMuchMemory);
    double patience = limits.seconds > 0 ? limits.seconds - waited.count() : -1;
    if (limits.memory_bytes > 0 && (patience < 0 || patience > kMemoryLookSeconds))
      patience = kMemoryLookSeconds;
    wait(patience, limits.stop_fd);
  }
}

void WorkerProcess::end(double seconds) {
  connection_ = Connection(UniqueFd());
  process_.wait(seconds);
  process_.kill();
  process_.wait(/*seconds=*/10);
  read_words();
  if (folder_.empty()) return;
  kill_processes_started_with(fmt::format("{}={}", kFolderVariable, folder_.string()));
  remove_folder(folder_);
  folder_.clear();
}

provider::Failure WorkerProcess::fail(provider::FailureKind kind, std::string why,
                                      provider::FailureKind killed) {
  end(/*seconds=*/0);
  const std::string words = last_words();
  if (why.empty()) return {provider::died_of(process_.exit_signal(), kind, killed), words};
  // Skips the first line, which reports hone's own SIGKILL.
  if (const auto line = words.find('\n'); line != std::string::npos) why += words.substr(line);
  return {kind, std::move(why)};
}

std::string WorkerProcess::last_words() const {
  std::string words = words_.text();
  while (!words.empty() && (words.back() == '\n' || words.back() == '\0')) words.pop_back();
  return process_.how_it_ended() + (words.empty() ? "" : "\n") + readable(words);
}

void WorkerProcess::forget_words() {
  read_words();
  words_ = Capture(kWordsBytes);
}

void WorkerProcess::read_words() {
  if (!words_ended_)
    words_ended_ = read_available(process_.error_pipe(), words_) == ReadState::kEnd;
}

tl::unexpected<Error> interrupted() {
  return tl::unexpected(Error{ErrorKind::kInterrupted, "interrupted"});
}

}  // namespace hone::worker
