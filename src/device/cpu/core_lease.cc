#include "device/cpu/core_lease.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>

namespace hone::device::cpu {
namespace {

// How often a waiting process looks again.
constexpr std::chrono::milliseconds kPoll{20};

Status make_folder(const std::filesystem::path& folder) {
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    return environment_error("cannot make the folder {} for core leases: {}", folder.string(),
                             std::strerror(errno));
  // In /tmp anyone may have put something under this name before.
  struct stat status {};
  if (lstat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) || status.st_uid != geteuid())
    return environment_error("{} is not a folder of yours; set XDG_RUNTIME_DIR to one",
                             folder.string());
  return {};
}

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

std::filesystem::path CoreLease::default_folder() {
  if (const char* runtime = std::getenv("XDG_RUNTIME_DIR"); runtime && *runtime)
    return std::filesystem::path(runtime) / "hone";
  return fmt::format("/tmp/hone-{}", geteuid());
}

Result<CoreLease> CoreLease::acquire(std::span<const int> cores, std::chrono::milliseconds wait,
                                     const std::filesystem::path& folder) {
  const std::filesystem::path place = folder.empty() ? default_folder() : folder;
  HONE_TRY(make_folder(place));
  CoreLease lease;
  lease.cores_.assign(cores.begin(), cores.end());
  // All take the cores in the same order, so two that want the same ones never wait in a circle.
  std::sort(lease.cores_.begin(), lease.cores_.end());
  lease.cores_.erase(std::unique(lease.cores_.begin(), lease.cores_.end()), lease.cores_.end());
  const auto deadline = std::chrono::steady_clock::now() + wait;
  for (const int core : lease.cores_) {
    const std::filesystem::path path = place / fmt::format("core-{}.lock", core);
    const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0)
      return environment_error("cannot open {}: {}", path.string(), std::strerror(errno));
    lease.files_.push_back(file);
    while (flock(file, LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK && errno != EINTR)
        return environment_error("cannot lock {}: {}", path.string(), std::strerror(errno));
      if (std::chrono::steady_clock::now() >= deadline)
        return environment_error(
            "core {} is leased by {}, which measures on it; wait for it, or give this "
            "run other cores",
            core, holder_of(file));
      std::this_thread::sleep_for(kPoll);
    }
    write_own_pid(file);
  }
  return lease;
}

void CoreLease::release() {
  for (const int file : files_) close(file);
  files_.clear();
  cores_.clear();
}

CoreLease::~CoreLease() {
  release();
}

CoreLease::CoreLease(CoreLease&& other) noexcept
    : cores_(std::exchange(other.cores_, {})), files_(std::exchange(other.files_, {})) {}

CoreLease& CoreLease::operator=(CoreLease&& other) noexcept {
  std::swap(cores_, other.cores_);
  std::swap(files_, other.files_);
  return *this;
}

}  // namespace hone::device::cpu
