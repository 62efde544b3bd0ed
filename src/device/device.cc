#include "device/device.h"

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

Buffer bound_buffer(std::span<const problem::KernelBinding> bindings, std::size_t ordinal,
                    std::span<const Buffer> buffers) {
  if (bindings.empty()) return ordinal < buffers.size() ? buffers[ordinal] : Buffer();
  const problem::KernelBinding& binding = bindings[ordinal];
  if (binding.buffer < 0 || static_cast<std::size_t>(binding.buffer) >= buffers.size()) return {};
  // Computes with integers, since such an address need not lie in the buffer's memory.
  const auto begin =
      reinterpret_cast<std::uintptr_t>(buffers[static_cast<std::size_t>(binding.buffer)].data) -
      static_cast<std::uintptr_t>(binding.offset);
  return {reinterpret_cast<void*>(begin), static_cast<std::size_t>(binding.bytes)};
}

namespace {

tl::unexpected<Error> no_memory(std::string_view kind) {
  return failure("a device of kind {} has no memory apart from the host's", kind);
}

}  // namespace

Result<void*> Device::allocate(std::size_t) {
  return no_memory(kind());
}
void Device::release(void*) {}
Status Device::upload(void*, std::span<const std::byte>) {
  return no_memory(kind());
}
Status Device::download(std::span<std::byte>, const void*) {
  return no_memory(kind());
}
Status Device::copy(void*, const void*, std::size_t) {
  return no_memory(kind());
}
Result<std::optional<Difference>> Device::difference(const void*, const void*, problem::ElementType,
                                                     std::int64_t, double, double) {
  return std::nullopt;
}

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
