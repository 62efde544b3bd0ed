// Bounds a child's output: its first and last bytes are kept, the dropped middle is counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hone {

class Capture {
 public:
  // Keeps at most `limit` bytes: the first half and the last half of the added bytes.
  explicit Capture(std::size_t limit = std::size_t{64} << 10) : limit_(limit) {}

  void add(std::string_view bytes);

  // Number of added bytes that text() does not contain.
  std::uint64_t dropped() const;

  // Head and tail. If bytes were dropped, a line "[... N bytes left out ...]" joins them.
  std::string text() const;

 private:
  std::size_t limit_;
  std::string head_;
  std::string tail_;  // up to twice its share, so that trimming is amortised
  std::uint64_t trimmed_ = 0;
};

enum class ReadState { kOpen, kEnd };

// Reads the available bytes of the non-blocking `fd` into `capture`, at most 1 MiB so that a flood
// does not starve the caller's other descriptors. Returns kEnd at end of file or on a read error.
ReadState read_available(int fd, Capture& capture);

}  // namespace hone
