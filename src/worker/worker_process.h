// A worker process seen from the tuner: its connection, its last words, its folder.
#pragma once

#include <poll.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/process.h"
#include "worker/message.h"

namespace hone::worker {

// Start options that all kinds of workers share.
struct WorkerOptions {
  // Starts a process that says hello on ChildProcess::kChildSocket and then serves there.
  std::vector<std::string> command;
  std::vector<EnvironmentChange> environment;
  double start_seconds = 60;        // it has to say hello in; it may load a compiler
  std::filesystem::path temporary;  // where its folder is made; empty: the system's
  int stop_fd = -1;                 // once it is readable every waiting call returns kInterrupted
};

// Limits of one question to a worker; 0: none.
struct AskLimits {
  double seconds = 0;
  std::uint64_t memory_bytes = 0;  // resident, of the process
  int stop_fd = -1;
};

// Why a worker gave no answer.
struct NoAnswer {
  enum class Reason {
    kNotSent,     // the message passes a limit of the protocol, or the connection is closed
    kUnreadable,  // the answer is no frame
    kGone,
    kStopped,  // AskLimits::stop_fd
    kLate,
    kTooMuchMemory,
  };
  Reason reason = Reason::kGone;
  std::string words = {};  // of the first two
};

class WorkerProcess {
 public:
  // Starts the worker, which messages call `what`, and waits for its "hello". Returns an
  // environment error with the worker's words if none comes, kInterrupted if `stop_fd` becomes
  // readable.
  static Result<WorkerProcess> start(std::string_view what, const WorkerOptions& options);
  WorkerProcess(WorkerProcess&& other) noexcept;
  WorkerProcess& operator=(WorkerProcess&&) = delete;
  ~WorkerProcess();  // end(5)

  Connection& connection() { return connection_; }
  ChildProcess& process() { return process_; }

  // Waits at most `seconds` (negative: no limit) for a message, an end or `stop_fd`. Reads what is
  // there.
  void wait(double seconds, int stop_fd);
  // Adds the descriptors to poll for a message or an end.
  void add_poll_entries(std::vector<pollfd>& entries) const;
  bool is_gone();  // it has ended or closed its socket; what it said before may still be there

  // Sends `message` and waits for the answer. What the worker said before is forgotten. Whether the
  // worker still lives after a NoAnswer, and what becomes of it, is the caller's.
  tl::expected<Message, NoAnswer> ask(const Message& message, const AskLimits& limits);
  // The second half of ask(): waits for the next answer to what was sent.
  tl::expected<Message, NoAnswer> hear(const AskLimits& limits);

  // Closes the connection, which tells the worker to leave. After `seconds` it kills what is left,
  // with everything the worker started, and removes its folder.
  void end(double seconds);

  // Ends it at once. Returns its failure with its last words. The reason is `why`; if that is
  // empty, the way it died, which is `killed` if somebody else ended it.
  provider::Failure fail(provider::FailureKind kind, std::string why, provider::FailureKind killed);

  // Returns "SIGSEGV" or "exit code 3" and, on lines of their own, the process's output. Call it
  // after end().
  std::string last_words() const;
  void forget_words();

 private:
  WorkerProcess(std::filesystem::path folder, ChildProcess process);
  void read_words();

  std::filesystem::path folder_;  // empty once it has ended
  ChildProcess process_;
  Connection connection_;
  Capture words_;
  bool words_ended_ = false;
};

// The error of a call that `stop_fd` ended.
tl::unexpected<Error> interrupted();

}  // namespace hone::worker
