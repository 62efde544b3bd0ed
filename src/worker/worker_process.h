// A worker process as the tuner holds it: its conversation, its last words, its folder.
#pragma once

#include <poll.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/process.h"
#include "worker/message.h"

namespace hone::worker {

struct WorkerCommand {
  std::string_view what;  // "compile worker", for messages
  std::vector<std::string> arguments;
  std::vector<EnvironmentChange> environment;
  std::filesystem::path temporary;  // where its folder is made; empty: the system's
  double start_seconds;             // it has to say hello in
  std::size_t output_bytes;         // kept of what it prints
  int stop_fd;
};

class WorkerProcess {
 public:
  // Starts the worker and waits for its "hello". An environment error with its words when it does
  // not come, kInterrupted when `stop_fd` becomes readable.
  static Result<WorkerProcess> start(const WorkerCommand& command);
  WorkerProcess(WorkerProcess&& other) noexcept;
  WorkerProcess& operator=(WorkerProcess&&) = delete;
  ~WorkerProcess();  // end(5)

  Connection& connection() { return connection_; }
  ChildProcess& process() { return process_; }

  // Waits at most `seconds` (negative: no limit) for a word, an end or `stop_fd`, and reads what is
  // there.
  void wait(double seconds, int stop_fd);
  // What to poll for a word or an end.
  void add_poll_entries(std::vector<pollfd>& entries) const;
  bool is_gone();  // it has ended or closed its socket; what it said before may still be there

  // Closes the conversation, which tells the worker to leave; kills what is left after `seconds`
  // with everything it started, and removes its folder.
  void end(double seconds);

  // "SIGSEGV" or "exit code 3" and, on lines of their own, what it printed. After end().
  std::string last_words() const;
  void forget_words();

 private:
  WorkerProcess(const WorkerCommand& command, std::filesystem::path folder, ChildProcess process);
  void read_words();

  std::size_t output_bytes_;
  std::filesystem::path folder_;  // empty once it has ended
  ChildProcess process_;
  Connection connection_;
  Capture words_;
  bool words_ended_ = false;
};

// The error of a call that `stop_fd` ended.
tl::unexpected<Error> interrupted();

}  // namespace hone::worker
