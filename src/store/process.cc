#include "store/process.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <optional>
#include <sstream>
#include <vector>

#include "store/clock.h"

namespace hone::store {
namespace {

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.data();
}

std::uint64_t pid_namespace() {
  struct stat status {};
  return ::stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

struct ProcessState {
  char state;
  std::string start;  // ticks since boot
};

// Fields 3 and 22 of /proc/PID/stat (proc(5)); counted behind the last ')', because the second
// field is the program's name and may hold anything.
std::optional<ProcessState> process_state(std::string_view pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string text;
  if (!std::getline(file, text)) return std::nullopt;
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(text.substr(name_end + 1));
  std::string field, state;
  fields >> state;
  for (int number = 4; number <= 22; ++number) fields >> field;
  if (!fields || state.empty()) return std::nullopt;
  return ProcessState{state[0], field};
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
  const std::optional<ProcessState> self = process_state(pid);
  return fmt::format("{}/{}/{}/{}/{}", host_name(), boot_id(), pid_namespace(), pid,
                     self ? self->start : "0");
}

bool is_gone(std::string_view process) {
  const std::vector<std::string_view> parts = split(process.substr(0, process.find('#')), '/');
  if (parts.size() != 5 || parts[0] != host_name()) return false;
  if (parts[1] != boot_id()) return true;
  if (parts[2] != std::to_string(pid_namespace())) return false;
  const std::optional<ProcessState> state = process_state(parts[3]);
  // A zombie has ended; only its parent has not looked yet.
  return !state || state->start != parts[4] || state->state == 'Z' || state->state == 'X';
}

}  // namespace hone::store
