#include "worker/remote_worker.h"

#include <fmt/format.h>
#include <poll.h>

#include <utility>

#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/stopwatch.h"
#include "base/text.h"
#include "worker/remote_host.h"
#include "worker/remote_protocol.h"

namespace hone::worker {
namespace {

using provider::Failure;
using provider::FailureKind;

// The other end watches a job's time itself; what a slow line adds to it.
constexpr double kLineSeconds = 30;
// A network that is gone for longer ends the session; everything finished is stored by then.
constexpr double kReconnectSeconds = 60;
constexpr double kFirstWaitSeconds = 1;
constexpr std::size_t kPartBytes = std::size_t{16} << 20;

// Waits for `seconds`; false once `stop_fd` is readable.
bool wait_unless_stopped(double seconds, int stop_fd) {
  pollfd entry{stop_fd, POLLIN, 0};
  ::poll(&entry, 1, static_cast<int>(seconds * 1000));
  return !is_readable(stop_fd);
}

}  // namespace

Status RemoteWorker::connect() {
  if (worker_ && !worker_->is_gone()) return {};
  worker_.reset();
  sent_.clear();
  earlier_ += std::exchange(there_, 0);
  lives_ = check_ = false;
  sent_messages_ = answered_ = 0;
  WorkerOptions start;
  start.command = on_socket(command_at(options_.host, {"worker", "serve"}));
  start.temporary = options_.temporary;
  start.stop_fd = options_.stop_fd;
  const Stopwatch watch;
  for (double wait = kFirstWaitSeconds;; wait *= 2) {
    Result<WorkerProcess> worker =
        WorkerProcess::start(fmt::format("connection to '{}'", options_.host), start);
    if (worker) {
      worker_.emplace(std::move(*worker));
      break;
    }
    if (worker.error().kind == ErrorKind::kInterrupted || !was_connected_)
      return tl::unexpected(worker.error());
    if (watch.seconds() + wait > kReconnectSeconds)
      return environment_error(
          "the connection to '{}' is lost, and there was none again for {}: {}; the same command "
          "continues",
          options_.host, format_duration(kReconnectSeconds), reason_of(worker.error().message));
    if (!wait_unless_stopped(wait, options_.stop_fd)) return interrupted();
  }
  was_connected_ = true;
  if (options_.first.kind.empty()) return {};
  HONE_ASSIGN(const Outcome begun,
              exchange(wrap(std::string(remote::kJob), nlohmann::json::object(), options_.first),
                       /*seconds=*/0));
  if (begun) return {};
  worker_.reset();
  return environment_error("'{}': {}", options_.host, begun.error().message);
}

Status RemoteWorker::start() {
  HONE_TRY(connect());
  if (lives_) return {};
  HONE_ASSIGN(const Outcome started,
              exchange({std::string(remote::kStart), nullptr, {}}, /*seconds=*/0));
  if (started) return {};
  return environment_error("'{}': {}", options_.host, started.error().message);
}

// The machine does it before the next call, without another turn of the line. A runner that was
// replaced there refuses that call as one that was killed.
Status RemoteWorker::ensure_ready() {
  HONE_TRY(start());
  check_ = true;
  return {};
}

Result<Outcome> RemoteWorker::call(const Message& message, double seconds) {
  HONE_TRY(start());
  return exchange(without_sent_blobs(message, seconds), seconds);
}

Result<std::vector<Outcome>> RemoteWorker::call_all(const std::vector<Message>& messages,
                                                    double seconds) {
  HONE_TRY(start());
  for (const Message& message : messages) HONE_TRY(send(without_sent_blobs(message, seconds)));
  std::vector<Outcome> outcomes;
  // Answers to those behind a failed one are passed over by the next call.
  answered_ = sent_messages_ - messages.size();
  for (std::size_t i = 0; i < messages.size(); ++i) {
    ++answered_;
    HONE_ASSIGN(outcomes.emplace_back(), answer(seconds));
    if (!outcomes.back()) break;
  }
  return outcomes;
}

Status RemoteWorker::post(const Message& message, double seconds) {
  HONE_TRY(start());
  return send(without_sent_blobs(message, seconds));
}

Result<Outcome> RemoteWorker::ask(const Message& job, double seconds) {
  HONE_TRY(connect());
  return exchange(wrap(std::string(remote::kJob), {{"seconds", seconds}}, job), seconds);
}

Message RemoteWorker::without_sent_blobs(Message message, double seconds) {
  nlohmann::json names = nlohmann::json::array();
  std::vector<std::string> sent_now;
  for (std::string& blob : message.blobs) {
    const bool kept = blob.size() >= remote::kLeastKeptBytes;
    const std::string name = kept ? content_hash(blob) : std::string();
    names.push_back(name);
    if (!kept || sent_.insert(name).second) sent_now.push_back(std::move(blob));
  }
  message.blobs = std::move(sent_now);
  nlohmann::json fields{{"seconds", seconds}, {"generation", there_}, {"blobs", std::move(names)}};
  if (std::exchange(check_, false)) fields["check"] = true;
  return wrap(std::string(remote::kCall), std::move(fields), std::move(message));
}

Status RemoteWorker::send(Message message) {
  if (!message.body.is_object()) message.body = nlohmann::json::object();
  message.body["number"] = ++sent_messages_;
  return worker_->connection().send(message);
}

Result<Outcome> RemoteWorker::exchange(Message message, double seconds) {
  if (const Status sent = send(std::move(message)); !sent) {
    if (!worker_->is_gone()) return tl::unexpected(sent.error());  // it passes a limit
    return lost({NoAnswer::Reason::kGone});
  }
  answered_ = sent_messages_;
  return answer(seconds);
}

// Waits for the answer to message `answered_`.
Result<Outcome> RemoteWorker::answer(double seconds) {
  if (!worker_) return lost({NoAnswer::Reason::kGone});
  const AskLimits limits{.seconds = seconds > 0 ? seconds + kLineSeconds : 0,
                         .stop_fd = options_.stop_fd};
  auto reply = worker_->hear(limits);
  // Answers that nobody waited for come first.
  while (reply && number_field(*reply, "number").value_or(0) < answered_)
    reply = worker_->hear(limits);
  if (!reply) {
    const bool stopped = reply.error().reason == NoAnswer::Reason::kStopped;
    Outcome ended = lost(reply.error());
    if (stopped) return interrupted();
    return ended;
  }
  there_ = number_field(*reply, "generation").value_or(there_);
  lives_ = reply->body.value("lives", false);
  if (reply->kind == remote::kFailed)
    return Outcome(tl::unexpected(failure_from(unwrap(std::move(*reply)))));
  if (reply->kind == remote::kError) {
    HONE_ASSIGN(Error error, decode_json<Error>(unwrap(std::move(*reply)).body));
    error.message = fmt::format("'{}': {}", options_.host, error.message);
    return tl::unexpected(std::move(error));
  }
  return Outcome(unwrap(std::move(*reply)));
}

Outcome RemoteWorker::lost(const NoAnswer& none) {
  std::string words = "it has ended";
  if (worker_)
    words =
        worker_->fail(FailureKind::kKernelKilled, none.words, FailureKind::kKernelKilled).message;
  worker_.reset();
  return tl::unexpected(
      Failure{FailureKind::kKernelKilled,
              fmt::format("the connection to '{}' was lost: {}", options_.host, words)});
}

Result<tl::expected<std::string, Failure>> RemoteWorker::send_file(
    const std::filesystem::path& file) {
  using Name = tl::expected<std::string, Failure>;
  HONE_TRY(connect());
  std::error_code code;
  const auto time = std::filesystem::last_write_time(file, code).time_since_epoch().count();
  const auto size = std::filesystem::file_size(file, code);
  if (code) return input_error("cannot read '{}': {}", file.string(), code.message());
  auto& [state, hash] = hashes_[file];
  std::string bytes;
  if (const std::string now = fmt::format("{} {}", time, size); state != now) {
    HONE_ASSIGN(bytes, read_file(file));
    hash = content_hash(bytes);
    state = now;
  }
  const std::string name = hash + file.extension().string();
  if (sent_.contains(name)) return Name(name);
  if (bytes.empty()) {
    HONE_ASSIGN(bytes, read_file(file));
  }
  std::size_t at = 0;
  do {
    std::string part = bytes.substr(at, kPartBytes);
    const bool last = at + part.size() == bytes.size();
    const nlohmann::json fields{{"name", name}, {"at", at}, {"last", last}};
    at += part.size();
    HONE_ASSIGN(const Outcome kept,
                ask({std::string(remote::kFile), fields, {std::move(part)}}, /*seconds=*/0));
    if (!kept) return Name(tl::unexpected(kept.error()));
  } while (at < bytes.size());
  sent_.insert(name);
  return Name(name);
}

}  // namespace hone::worker
