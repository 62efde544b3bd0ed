// Messages between tuner and workers, and their form on a stream socket. The specification is
// docs/worker-protocol.md.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/json_fields.h"
#include "base/result.h"
#include "provider/message.h"

namespace hone::worker {

using provider::Message;
using provider::Outcome;

// Hard limits of the protocol: a frame that passes one is refused by sender and receiver.
struct FrameLimits {
  static constexpr std::uint32_t kKindBytes = 64;
  static constexpr std::uint32_t kBodyBytes = std::uint32_t{64} << 20;
  static constexpr std::uint32_t kBlobs = 1024;
  static constexpr std::uint64_t kBlobBytes = provider::kMostBlobBytes;  // all blobs together
  static constexpr int kDepth = 64;                                      // nesting of the body
};

// Returns the frame of `message`, or a failure that names the exceeded limit. Bytes of the body
// that are not UTF-8 are replaced by U+FFFD.
Result<std::string> encode(const Message& message);

// Takes frames out of a stream of bytes. Memory grows with the bytes that arrived, never with the
// size that a header announces.
class FrameDecoder {
 public:
  void add(std::string_view bytes) { buffer_.append(bytes); }

  // The next message, std::nullopt when more bytes are needed, or a failure: the stream is then
  // out of step, and every later call fails too.
  Result<std::optional<Message>> next();

  // Whether bytes of an unfinished frame are held.
  bool is_inside_frame() const { return buffer_.size() > at_; }

 private:
  Result<std::optional<Message>> take_frame();

  std::string buffer_;
  std::size_t at_ = 0;  // where the next frame starts
  std::optional<Error> broken_;
};

// Writes a message to a socket or a pipe; blocks. An error if the other end is gone. A socket raises
// no SIGPIPE.
Status write_message(int socket, const Message& message);

// Waits for a message. std::nullopt at an orderly end of the stream. An error for bytes that are no
// frame, or an end in the middle of one. `decoder` keeps the bytes read beyond the message.
Result<std::optional<Message>> read_message(int socket, FrameDecoder& decoder);

// A socket in a poll loop: never blocks, and queues the output that the socket does not take.
class Connection {
 public:
  // Makes `socket` non-blocking.
  explicit Connection(UniqueFd socket);

  int fd() const { return socket_.get(); }
  short poll_events() const;  // what to poll fd() for: POLLIN, and POLLOUT while output waits

  // Queues and writes what the socket takes now. A failure when a limit is passed or it is closed.
  Status send(const Message& message);
  // Writes more of what is queued.
  void flush();
  // Reads what is there, at most 4 MiB.
  void fill();
  // The next message read, if any; a failure when the stream holds no frame.
  Result<std::optional<Message>> next() { return decoder_.next(); }

  // The other end is gone: nothing more will be read than next() gives.
  bool is_closed() const { return closed_; }

 private:
  UniqueFd socket_;
  FrameDecoder decoder_;
  std::deque<std::string> output_;
  std::size_t written_ = 0;  // of output_.front()
  bool closed_ = false;
};

// A failure as a message and back; its kind is "failure", which no other message may have.
Message to_message(const provider::Failure& failure);
provider::Failure failure_from(const Message& message);

// The message, or the failure it carries.
Outcome outcome_from(Message message);

// Job messages inside the messages between tuner, zygote and prepared servers
// (docs/worker-protocol.md, "Compile tree").
//
// Wraps `payload` in a message of kind `kind` with the fields `fields` (an object).
Message wrap(std::string kind, nlohmann::json fields, Message payload);

// Returns the payload of a wrapped message. A malformed one has an empty kind and a null body.
Message unwrap(Message message);

// "done" or "failed" for job `id`, which took `seconds` and has ended now ("ended", by
// monotonic_seconds()).
Message to_report(std::uint64_t id, double seconds, Outcome outcome);

// The outcome in a "done" or "failed" message.
Outcome outcome_from_report(Message message);

// Fields of a message's body; std::nullopt if missing or of another type.
std::optional<std::uint64_t> number_field(const Message& message, const char* name);
std::optional<std::string> text_field(const Message& message, const char* name);
double seconds_field(const Message& message, const char* name = "seconds");

// Limits of a job.
struct JobLimits {
  double seconds = 60;                                  // wall time; 0: none
  std::uint64_t memory_bytes = std::uint64_t{4} << 30;  // resident, the job and all it started
  std::size_t output_bytes = std::size_t{64} << 10;     // kept of its stdout and stderr

  static void fields(auto& limits, auto&& field) {
    field("seconds", limits.seconds);
    field("memory_bytes", limits.memory_bytes);
    field("output_bytes", limits.output_bytes);
  }
};

// Settings that the zygote needs before the first job.
struct TreeSettings {
  std::uint64_t jobs = 1;
  JobLimits once;
  JobLimits prepare;
  JobLimits run;

  static void fields(auto& settings, auto&& field) {
    field("jobs", settings.jobs);
    field("once", settings.once);
    field("prepare", settings.prepare);
    field("run", settings.run);
  }
};
Message to_message(const TreeSettings& settings);  // of kind "configure"
std::optional<TreeSettings> settings_from(const Message& message);

}  // namespace hone::worker
