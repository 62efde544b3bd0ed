// The runner of another machine, behind ssh; and jobs for hone there (docs/worker-protocol.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "worker/runner_process.h"

namespace hone::worker {

struct RemoteOptions {
  std::string host;    // device::Address::host; hone is installed there (remote_host.h)
  Message first = {};  // asked on every new connection, before all else; no kind: nothing
  int stop_fd = -1;    // as WorkerOptions'
  std::filesystem::path temporary = {};
};

// A connection to hone on another machine. For one thread. A lost connection costs one call: the
// next one connects again, waiting at most a minute, and finds a new runner there.
class RemoteWorker final : public RunnerTransport {
 public:
  // Connects with the first call.
  explicit RemoteWorker(RemoteOptions options) : options_(std::move(options)) {}

  // Connects unless it is connected. Errors: the machine cannot be reached, or the first job
  // failed.
  Status connect();
  Status start() override;
  Status ensure_ready() override;
  // A lost connection is kKernelKilled. Bytes of a blob cross once for each connection.
  Result<Outcome> call(const Message& message, double seconds) override;
  // All are sent before the first answer is waited for, so that the line's delay counts once.
  Result<std::vector<Outcome>> call_all(const std::vector<Message>& messages,
                                        double seconds) override;
  // Waits for no answer.
  Status post(const Message& message, double seconds) override;
  std::uint64_t generation() const override { return earlier_ + there_; }
  bool is_far() const override { return true; }

  // Sends a job that hone answers there itself, without a runner, and waits for the answer. Its
  // errors are returned as such; a lost connection is kKernelKilled.
  Result<Outcome> ask(const Message& job, double seconds);
  void stop_by(int stop_fd) { options_.stop_fd = stop_fd; }
  bool is_connected() { return worker_ && !worker_->is_gone(); }
  // Sends a file, unless it was sent on this connection, and returns its name there: the hash of
  // its content and its extension.
  Result<tl::expected<std::string, provider::Failure>> send_file(const std::filesystem::path& file);

 private:
  Status send(Message message);
  Result<Outcome> answer(double seconds);
  Result<Outcome> exchange(Message message, double seconds);
  Outcome lost(const NoAnswer& none);
  Message without_sent_blobs(Message message, double seconds);

  RemoteOptions options_;
  std::optional<WorkerProcess> worker_;
  std::set<std::string> sent_;  // hashes of blobs and files, on this connection
  std::uint64_t earlier_ = 0;   // generations of earlier connections
  std::uint64_t there_ = 0;     // of this one
  bool lives_ = false;          // a runner, there
  bool check_ = false;          // it is asked for an answer before the next call
  std::uint64_t sent_messages_ = 0, answered_ = 0;  // on this connection, numbered from 1
  bool was_connected_ = false;
  // By path: the file's time and size, and its hash.
  std::map<std::filesystem::path, std::pair<std::string, std::string>> hashes_;
};

}  // namespace hone::worker
