#include "base/system_random.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <array>
#include <cerrno>
#include <cstdint>

namespace hone {

void fill_with_system_random(std::span<std::byte> bytes) {
  while (::getrandom(bytes.data(), bytes.size(), 0) < 0 && errno == EINTR) {
  }
}

std::string system_random_name() {
  std::array<std::uint64_t, 1> drawn{};
  fill_with_system_random(std::as_writable_bytes(std::span(drawn)));
  return fmt::format("{:016x}", drawn.front());
}

}  // namespace hone
