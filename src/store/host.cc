#include "store/host.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <fstream>
#include <iterator>
#include <vector>

#include "base/process_tree.h"

namespace hone::store {
namespace {

// Fields of /proc/PID/stat; the start is in ticks since boot.
constexpr int kState = 3, kStart = 22;

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.data();
}

std::uint64_t pid_namespace() {
  struct stat status {};
  return ::stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

std::string to_text(std::chrono::system_clock::time_point time) {
  const auto milliseconds = std::chrono::floor<std::chrono::milliseconds>(time);
  const auto seconds = std::chrono::floor<std::chrono::seconds>(milliseconds);
  const std::time_t calendar = std::chrono::system_clock::to_time_t(seconds);
  std::tm utc{};
  ::gmtime_r(&calendar, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", utc.tm_year + 1900,
                     utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec,
                     (milliseconds - seconds).count());
}

std::string now_text() {
  return to_text(std::chrono::system_clock::now());
}

std::string boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id;
}

std::int64_t boot_milliseconds() {
  std::timespec time{};
  ::clock_gettime(CLOCK_BOOTTIME, &time);
  return std::int64_t{time.tv_sec} * 1000 + time.tv_nsec / 1'000'000;
}

std::string this_process() {
  const std::string pid = std::to_string(::getpid());
  const std::string start = stat_field(stat_of(pid), kStart);
  return fmt::format("{}/{}/{}/{}/{}", host_name(), boot_id(), pid_namespace(), pid,
                     start.empty() ? "0" : start);
}

bool is_gone(std::string_view process) {
  const std::vector<std::string_view> parts = split(process.substr(0, process.find('#')), '/');
  if (parts.size() != 5 || parts[0] != host_name()) return false;
  if (parts[1] != boot_id()) return true;
  if (parts[2] != std::to_string(pid_namespace())) return false;
  const std::string stat = stat_of(parts[3]);
  const std::string state = stat_field(stat, kState);
  // A zombie has ended, but its parent has not collected it yet.
  return stat.empty() || stat_field(stat, kStart) != parts[4] || state == "Z" || state == "X";
}

bool is_shared_file_system(long type) {
  // Numbers of statfs(2) and linux/magic.h; some are in neither of Debian's headers.
  static constexpr unsigned kShared[] = {
      0x6969,      // NFS
      0x517b,      // SMB
      0xff534d42,  // CIFS
      0xfe534d42,  // SMB2
      0x65735546,  // FUSE: sshfs, s3fs, GlusterFS, ...
      0x01021997,  // 9P: folders that a virtual machine shares with its host
      0x5346414f,  // AFS
      0x6b414653,  // kAFS
      0x73757245,  // Coda
      0x564c,      // NCP
      0x00c36400,  // Ceph
      0x0bd00bd0,  // Lustre
      0x47504653,  // GPFS
      0x19830326,  // BeeGFS
      0x7461636f,  // OCFS2
      0x01161970,  // GFS2
      0x786f4256,  // folders that VirtualBox shares with its host
      0xaad7aaea,  // PanFS
  };
  const auto magic = static_cast<unsigned>(type);
  return std::ranges::find(kShared, magic) != std::end(kShared);
}

bool is_on_shared_file_system(const std::filesystem::path& path) {
  struct statfs status {};
  if (::statfs(path.c_str(), &status) != 0 && ::statfs(path.parent_path().c_str(), &status) != 0)
    return false;
  return is_shared_file_system(static_cast<long>(status.f_type));
}

}  // namespace hone::store
