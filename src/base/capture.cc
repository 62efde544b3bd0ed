#include "base/capture.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace hone {

void Capture::add(std::string_view bytes) {
  const std::size_t head_limit = limit_ / 2;
  const std::size_t tail_limit = limit_ - head_limit;
  const std::size_t to_head = std::min(bytes.size(), head_limit - head_.size());
  head_.append(bytes.substr(0, to_head));
  bytes.remove_prefix(to_head);
  if (bytes.size() >= tail_limit) {
    trimmed_ += tail_.size() + bytes.size() - tail_limit;
    tail_ = bytes.substr(bytes.size() - tail_limit);
    return;
  }
  tail_.append(bytes);
  if (tail_.size() > 2 * tail_limit) {
    trimmed_ += tail_.size() - tail_limit;
    tail_.erase(0, tail_.size() - tail_limit);
  }
}

std::uint64_t Capture::dropped() const {
  const std::size_t tail_limit = limit_ - limit_ / 2;
  return trimmed_ + (tail_.size() > tail_limit ? tail_.size() - tail_limit : 0);
}

std::string Capture::text() const {
  const std::uint64_t left_out = dropped();
  if (left_out == 0) return head_ + tail_;
  const std::size_t tail_size = std::min(tail_.size(), limit_ - limit_ / 2);
  return fmt::format("{}\n[... {} bytes left out ...]\n{}", head_, left_out,
                     std::string_view(tail_).substr(tail_.size() - tail_size));
}

ReadState read_available(int fd, Capture& capture) {
  char buffer[std::size_t{64} << 10];
  for (std::size_t total = 0; total < (std::size_t{1} << 20);) {
    const ssize_t count = ::read(fd, buffer, sizeof buffer);
    if (count > 0) {
      capture.add({buffer, static_cast<std::size_t>(count)});
      total += static_cast<std::size_t>(count);
    } else if (count < 0 && errno == EINTR) {
      continue;
    } else {
      const bool nothing_now = count < 0 && errno == EAGAIN;
      return nothing_now ? ReadState::kOpen : ReadState::kEnd;
    }
  }
  return ReadState::kOpen;
}

}  // namespace hone
