#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/fd.h"

namespace hone {
namespace {

Status write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return environment_error("{}", std::strerror(errno));
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::fsync(fd) != 0) return environment_error("{}", std::strerror(errno));
  return {};
}

}  // namespace

Result<std::string> read_file(const std::filesystem::path& path) {
  std::error_code code;
  if (std::filesystem::is_directory(path, code))
    return input_error("cannot read '{}': it is a folder", path.string());
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return input_error("cannot read '{}': {}", path.string(), std::strerror(errno));
  std::string bytes;
  char buffer[1 << 16];
  while (true) {
    const ssize_t count = ::read(file.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    // A file of /proc may end in the middle: its process is gone.
    if (count < 0) return input_error("cannot read '{}': {}", path.string(), std::strerror(errno));
    if (count == 0) return bytes;
    bytes.append(buffer, static_cast<std::size_t>(count));
  }
}

Status write_file_atomically(const std::filesystem::path& path, std::string_view bytes) {
  std::error_code code;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), code);
  std::string temporary = path.string() + ".XXXXXX";
  const int fd = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (fd < 0)
    return environment_error("cannot write '{}': {}", path.string(), std::strerror(errno));
  Status status = write_all(fd, bytes);
  // mkostemp makes files that only their owner reads; a result is as readable as any other file.
  if (status && ::fchmod(fd, 0644) != 0) status = environment_error("{}", std::strerror(errno));
  ::close(fd);
  if (status && ::rename(temporary.c_str(), path.c_str()) != 0)
    status = environment_error("{}", std::strerror(errno));
  if (!status) {
    ::unlink(temporary.c_str());
    return environment_error("cannot write '{}': {}", path.string(), status.error().message);
  }
  return {};
}

Result<TemporaryFolder> TemporaryFolder::create(std::string_view prefix,
                                                const std::filesystem::path& parent) {
  std::error_code code;
  const std::filesystem::path base =
      parent.empty() ? std::filesystem::temp_directory_path(code) : parent;
  std::string pattern = (base / prefix).string() + "XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr)
    return environment_error("cannot make a temporary folder in '{}': {}", base.string(),
                             std::strerror(errno));
  return TemporaryFolder(pattern);
}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}

TemporaryFolder& TemporaryFolder::operator=(TemporaryFolder&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code code;
  if (!path_.empty()) std::filesystem::remove_all(path_, code);
}

}  // namespace hone
