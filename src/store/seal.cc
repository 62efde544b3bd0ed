#include "store/seal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <system_error>

#include "base/fd.h"
#include "base/hash.h"

namespace hone::store {
namespace {

static_assert(std::endian::native == std::endian::little, "words are read as they lie in memory");

struct SipState {
  std::uint64_t v0, v1, v2, v3;

  void round() {
    v0 += v1, v1 = std::rotl(v1, 13) ^ v0, v0 = std::rotl(v0, 32);
    v2 += v3, v3 = std::rotl(v3, 16) ^ v2;
    v0 += v3, v3 = std::rotl(v3, 21) ^ v0;
    v2 += v1, v1 = std::rotl(v1, 17) ^ v2, v2 = std::rotl(v2, 32);
  }
  void add(std::uint64_t word) {
    v3 ^= word;
    round(), round();
    v0 ^= word;
  }
  std::uint64_t finish() {
    for (int i = 0; i < 4; ++i) round();
    return v0 ^ v1 ^ v2 ^ v3;
  }
};

// Hashes the length too, so that bytes cannot move from one field to the next.
void add_field(std::string& text, std::string_view field) {
  text += fmt::format("{}:", field.size());
  text += field;
}

std::optional<SealKey> read_key(const std::filesystem::path& file) {
  const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  struct stat status {};
  SealKey key{};
  if (!fd || ::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
      status.st_uid != ::geteuid() || (status.st_mode & 077) != 0 ||
      ::read(fd.get(), key.data(), sizeof key) != static_cast<ssize_t>(sizeof key))
    return std::nullopt;
  return key;
}

// Links the complete file into place, so that processes starting at once all read the same key.
void write_key(const std::filesystem::path& file, const SealKey& key) {
  std::error_code ignored;
  std::filesystem::create_directories(file.parent_path(), ignored);
  const std::string draft = fmt::format("{}.{}", file.string(), ::getpid());
  const UniqueFd fd(::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd) return;
  if (::write(fd.get(), key.data(), sizeof key) == static_cast<ssize_t>(sizeof key) &&
      ::fsync(fd.get()) == 0)
    (void)::link(draft.c_str(), file.c_str());
  ::unlink(draft.c_str());
}

}  // namespace

std::string sip_hash(std::string_view bytes, const SealKey& key) {
  // The constants spell "somepseudorandomlygeneratedbytes"; 0xee and 0xdd are those of 128 bits.
  SipState state{key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d ^ 0xee,
                 key[0] ^ 0x6c7967656e657261, key[1] ^ 0x7465646279746573};
  std::size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, 8);
    state.add(word);
  }
  std::uint64_t last = 0;
  if (at < bytes.size()) std::memcpy(&last, bytes.data() + at, bytes.size() - at);
  state.add(last | static_cast<std::uint64_t>(bytes.size()) << 56);
  state.v2 ^= 0xee;
  const std::uint64_t first = state.finish();
  state.v1 ^= 0xdd;
  const std::uint64_t second = state.finish();
  std::string digits;
  for (const std::uint64_t half : {first, second})
    for (int byte = 0; byte < 8; ++byte) digits += fmt::format("{:02x}", half >> (8 * byte) & 0xff);
  return digits;
}

std::string seal_of(const ArtifactRow& artifact, const SealKey& key) {
  std::string text = "hone artifact 1\n";
  for (const std::string& field :
       {artifact.identity, artifact.format, artifact.launch, artifact.configured, artifact.code})
    add_field(text, field);
  return sip_hash(text, key);
}

SealKey seal_key_in(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "seal-key";
  if (const auto key = read_key(file)) return *key;
  SealKey drawn{};
  fill_with_system_random(std::as_writable_bytes(std::span(drawn)));
  write_key(file, drawn);
  return read_key(file).value_or(drawn);
}

SealKey own_seal_key() {
  const auto variable = [](const char* name) {
    const char* const value = std::getenv(name);
    return std::filesystem::path(value == nullptr ? "" : value);
  };
  std::filesystem::path state = variable("XDG_STATE_HOME");
  if (!state.is_absolute()) state = variable("HOME") / ".local" / "state";
  if (!state.is_absolute()) return seal_key_in("/nonexistent");
  return seal_key_in(state / "hone");
}

}  // namespace hone::store
