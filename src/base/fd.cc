#include "base/fd.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace hone {

void UniqueFd::reset() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

Result<FdPair> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return environment_error("cannot make a pipe: {}", std::strerror(errno));
  return FdPair{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

Result<FdPair> make_stream_socket_pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return environment_error("cannot make a pair of sockets: {}", std::strerror(errno));
  return FdPair{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

Status set_nonblocking(int fd, bool nonblocking) {
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0 ||
      ::fcntl(fd, F_SETFL, nonblocking ? flags | O_NONBLOCK : flags & ~O_NONBLOCK) != 0)
    return environment_error("cannot set up descriptor {}: {}", fd, std::strerror(errno));
  return {};
}

bool is_readable(int fd) {
  if (fd < 0) return false;
  pollfd entry{fd, POLLIN, 0};
  return ::poll(&entry, 1, 0) > 0 && entry.revents != 0;
}

}  // namespace hone
