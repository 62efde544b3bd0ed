#include "worker/remote_server.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <condition_variable>
#include <deque>
#include <exception>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "worker/remote_protocol.h"
#include "worker/session_folder.h"

namespace hone::worker {
namespace {

using provider::Failure;
using provider::FailureKind;

class Server {
 public:
  Server(RunnerOptions runner, const RemoteJobs& jobs, std::filesystem::path files)
      : stop_fd_(runner.stop_fd),
        runner_(std::move(runner)),
        jobs_(jobs),
        files_(std::move(files)) {}

  Message answer(Message message) {
    const std::uint64_t number = number_field(message, "number").value_or(0);
    const Result<Outcome> outcome = outcome_of(std::move(message));
    const nlohmann::json fields{
        {"number", number}, {"generation", runner_.generation()}, {"lives", runner_.lives()}};
    if (!outcome) return wrap(std::string(remote::kError), fields, {"error", outcome.error(), {}});
    if (!*outcome) return wrap(std::string(remote::kFailed), fields, to_message(outcome->error()));
    return wrap(std::string(remote::kDone), fields, **outcome);
  }

 private:
  Result<Outcome> outcome_of(Message message) {
    if (message.kind == remote::kStart) return runner_.start().map([] { return Outcome(); });
    if (message.kind == remote::kCall) return call(std::move(message));
    Message job = unwrap(std::move(message));
    if (job.kind == remote::kFile) return keep_part(job);
    try {
      return jobs_(std::move(job), files_, stop_fd_).map([](Message answer) {
        return Outcome(std::move(answer));
      });
    } catch (const std::exception& error) {
      return failure("{}", error.what());
    }
  }

  Result<Outcome> call(Message message) {
    const auto meant = number_field(message, "generation");
    const bool check = message.body.value("check", false);
    const double seconds = seconds_field(message);
    // Blobs are kept in any case: the tuner does not send them again.
    HONE_ASSIGN(const Message job, with_blobs(std::move(message)));
    HONE_TRY(check ? runner_.ensure_ready() : runner_.start());
    // It may have died since its last answer.
    if (meant != runner_.generation())
      return Outcome(
          tl::unexpected(Failure{FailureKind::kKernelKilled, "the runner was replaced"}));
    return runner_.call(job, seconds);
  }

  Result<Message> with_blobs(Message message) {
    HONE_ASSIGN(const auto names, decode_json<std::vector<std::string>>(message.body, "blobs"));
    Message job = unwrap(std::move(message));
    std::vector<std::string> sent = std::move(job.blobs);
    job.blobs.clear();
    auto next = sent.begin();
    for (const std::string& name : names) {
      const std::filesystem::path file = files_ / name;
      if (!name.empty() && std::filesystem::exists(file)) {
        HONE_ASSIGN(job.blobs.emplace_back(), read_file(file));
        continue;
      }
      if (next == sent.end()) return failure("the tuner sent fewer blobs than it named");
      if (!name.empty()) HONE_TRY(write_file_atomically(file, *next));
      job.blobs.push_back(std::move(*next++));
    }
    return job;
  }

  Result<Outcome> keep_part(const Message& job) {
    HONE_ASSIGN(const auto name, decode_json<std::string>(job.body, "name"));
    HONE_ASSIGN(const auto at, decode_json<std::uint64_t>(job.body, "at"));
    HONE_ASSIGN(const auto last, decode_json<bool>(job.body, "last"));
    const std::filesystem::path part = files_ / ("part-" + name);
    std::ofstream file(part, std::ios::binary | (at == 0 ? std::ios::trunc : std::ios::app));
    if (!job.blobs.empty()) file << job.blobs.front();
    file.close();
    std::error_code code;
    if (!file) {
      std::filesystem::remove(part, code);
      return environment_error("cannot write '{}': is there space?", part.string());
    }
    if (last) std::filesystem::rename(part, files_ / name, code);
    if (code) return environment_error("cannot write '{}': {}", part.string(), code.message());
    return Outcome();
  }

  int stop_fd_;
  RunnerProcess runner_;
  const RemoteJobs& jobs_;
  std::filesystem::path files_;
};

// Messages as they come in: a tuner sends some before the last one is answered, and its end must
// stop what runs.
class Inbox {
 public:
  // The process has one thread until then.
  explicit Inbox(FdPair end) : end_(std::move(end)), reader_([this] { read(); }) {}

  // Waits for a message. None at the end of the stream; whatever came before it is of no use then.
  std::optional<Message> next() {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [this] { return ended_ || !messages_.empty(); });
    if (ended_) return std::nullopt;
    Message message = std::move(messages_.front());
    messages_.pop_front();
    return message;
  }

  int end_fd() const { return end_.first.get(); }  // readable once the stream has ended

 private:
  void read() {
    FrameDecoder decoder;
    while (true) {
      auto message = read_message(STDIN_FILENO, decoder);
      if (!message) say("{}\n", message.error().message);
      const std::lock_guard lock(mutex_);
      if (message && *message) {
        messages_.push_back(std::move(**message));
      } else {
        ended_ = true;
        end_.second.reset();
      }
      arrived_.notify_one();
      if (ended_) return;
    }
  }

  FdPair end_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Message> messages_;
  bool ended_ = false;
  std::jthread reader_;
};

}  // namespace

int serve_remote(RunnerOptions options, const RemoteJobs& jobs) {
  constexpr int kNoFolder = 2;
  ::signal(SIGPIPE, SIG_IGN);
  // Nothing but frames goes to the tuner; what is printed here goes where errors do.
  const UniqueFd tuner(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  const auto folder = TunerFolder::claim();
  if (!folder) {
    say("{}\n", folder.error().message);
    return kNoFolder;
  }
  auto end = make_pipe();
  if (!end) {
    say("{}\n", end.error().message);
    return kNoFolder;
  }
  Inbox inbox(std::move(*end));
  options.stop_fd = inbox.end_fd();
  options.temporary = folder->parent();
  std::error_code code;
  Server server(std::move(options), jobs, std::filesystem::temp_directory_path(code));
  if (!write_message(tuner.get(), {"hello", {{"pid", ::getpid()}}, {}})) return 1;
  while (auto message = inbox.next())
    if (!write_message(tuner.get(), server.answer(std::move(*message)))) break;
  return 0;
}

}  // namespace hone::worker
