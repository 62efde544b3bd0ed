#include "device/device_kind.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace hone::device {
namespace {

// How often a waiting process looks again.
constexpr std::chrono::milliseconds kPoll{20};

std::string holder_of(int file) {
  char text[32] = {};
  const ssize_t size = pread(file, text, sizeof(text) - 1, 0);
  const long pid = size > 0 ? std::strtol(text, nullptr, 10) : 0;
  return pid > 0 ? fmt::format("process {}", pid) : std::string("another process");
}

void write_own_pid(int file) {
  const std::string pid = fmt::format("{}\n", getpid());
  if (ftruncate(file, 0) == 0 && pwrite(file, pid.data(), pid.size(), 0) < 0) {
    // Only the message to others suffers.
  }
}

}  // namespace

std::filesystem::path lock_folder() {
  if (const char* runtime = std::getenv("XDG_RUNTIME_DIR"); runtime && *runtime)
    return std::filesystem::path(runtime) / "hone";
  return fmt::format("/tmp/hone-{}", geteuid());
}

Status make_lock_folder(const std::filesystem::path& folder) {
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    return environment_error("cannot make the folder {} for leases of devices: {}", folder.string(),
                             std::strerror(errno));
  // In /tmp anyone may have put something under this name before.
  struct stat status {};
  if (lstat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) || status.st_uid != geteuid())
    return environment_error("{} is not a folder of yours; set XDG_RUNTIME_DIR to one",
                             folder.string());
  return {};
}

Result<LockFile> LockFile::acquire(const std::filesystem::path& folder, std::string_view name,
                                   const std::string& thing, std::string_view others,
                                   std::chrono::steady_clock::time_point deadline) {
  const std::filesystem::path path = folder / fmt::format("{}.lock", name);
  UniqueFd file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (file.get() < 0)
    return environment_error("cannot open {}: {}", path.string(), std::strerror(errno));
  while (flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR)
      return environment_error("cannot lock {}: {}", path.string(), std::strerror(errno));
    if (std::chrono::steady_clock::now() >= deadline)
      return environment_error(
          "{} is leased by {}, which measures on it; wait for it, or give this run {}", thing,
          holder_of(file.get()), others);
    std::this_thread::sleep_for(kPoll);
  }
  write_own_pid(file.get());
  return LockFile(std::move(file));
}

}  // namespace hone::device
