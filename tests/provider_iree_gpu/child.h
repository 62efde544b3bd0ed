// Runs a function in a process of its own: the compiler may crash, and keeps some flags per
// process.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <functional>
#include <string>

namespace hone::iree::gpu {

// What `answer` returns there; "died of signal N" when it dies instead.
inline std::string in_child(const std::function<std::string()>& answer) {
  int ends[2];
  if (::pipe(ends) != 0) return "no pipe";
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string words = answer();
    for (std::size_t at = 0; at < words.size();) {
      const ssize_t put = ::write(ends[1], words.data() + at, words.size() - at);
      if (put < 0 && errno == EINTR) continue;
      if (put <= 0) break;
      at += static_cast<std::size_t>(put);
    }
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string words;
  char buffer[4096];
  for (;;) {
    const ssize_t got = ::read(ends[0], buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    words.append(buffer, static_cast<std::size_t>(got));
  }
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) return "died of signal " + std::to_string(WTERMSIG(status));
  return words;
}

}  // namespace hone::iree::gpu
