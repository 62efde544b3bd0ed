#include "store/process.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <vector>

#include "base/process_tree.h"
#include "store/clock.h"

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

}  // namespace hone::store
