#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "worker/message.h"

namespace hone::worker {
namespace {

constexpr std::size_t kReadBytes = std::size_t{64} << 10;

// send() for sockets, never SIGPIPE.
ssize_t send_some(int socket, std::string_view bytes) {
  return ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
}

}  // namespace

Status write_message(int socket, const Message& message) {
  HONE_ASSIGN(const std::string frame, encode(message));
  std::string_view left = frame;
  while (!left.empty()) {
    const ssize_t count = send_some(socket, left);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failure("cannot send '{}': {}", message.kind, std::strerror(errno));
    left.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

Result<std::optional<Message>> read_message(int socket, FrameDecoder& decoder) {
  char buffer[kReadBytes];
  while (true) {
    HONE_ASSIGN(auto message, decoder.next());
    if (message) return message;
    const ssize_t count = ::recv(socket, buffer, sizeof buffer, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failure("cannot receive a message: {}", std::strerror(errno));
    if (count == 0 && decoder.is_inside_frame()) return failure("the stream ends in a message");
    if (count == 0) return std::nullopt;
    decoder.add({buffer, static_cast<std::size_t>(count)});
  }
}

Connection::Connection(UniqueFd socket) : socket_(std::move(socket)) {
  closed_ = !socket_ || !set_nonblocking(socket_.get(), true);
}

short Connection::poll_events() const {
  return static_cast<short>(output_.empty() ? POLLIN : POLLIN | POLLOUT);
}

Status Connection::send(const Message& message) {
  if (closed_) return failure("cannot send '{}': the other end is gone", message.kind);
  HONE_ASSIGN(std::string frame, encode(message));
  output_.push_back(std::move(frame));
  flush();
  return {};
}

void Connection::flush() {
  while (!output_.empty()) {
    const ssize_t count =
        send_some(socket_.get(), std::string_view(output_.front()).substr(written_));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return;
    if (count < 0) {
      // Messages that the other end sent before it left remain to be read.
      output_.clear();
      written_ = 0;
      return;
    }
    written_ += static_cast<std::size_t>(count);
    if (written_ < output_.front().size()) continue;
    output_.pop_front();
    written_ = 0;
  }
}

void Connection::fill() {
  constexpr std::size_t kMost = std::size_t{4} << 20;
  char buffer[kReadBytes];
  for (std::size_t total = 0; total < kMost && !closed_;) {
    const ssize_t count = ::recv(socket_.get(), buffer, sizeof buffer, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) {
      closed_ = true;
      return;
    }
    decoder_.add({buffer, static_cast<std::size_t>(count)});
    total += static_cast<std::size_t>(count);
  }
}

}  // namespace hone::worker
