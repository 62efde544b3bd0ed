#include "base/hash.h"

#include <fmt/format.h>
#include <sys/random.h>
#include <xxhash.h>

#include <array>
#include <cerrno>
#include <cstdint>

namespace hone {

std::string content_hash(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

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
