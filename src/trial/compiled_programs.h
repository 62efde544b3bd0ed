// In-memory cache of compiled programs: frontend IR (jobs::kFrontendIr), and modules that both a
// search and a proof need.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string>

namespace hone::trial {

class CompiledPrograms {
 public:
  // Holds at most so many bytes.
  explicit CompiledPrograms(std::size_t most_bytes = std::size_t{1} << 30)
      : most_bytes_(most_bytes) {}

  // Returns the bytes kept under `key` (provider::key_of a job); null if there are none.
  std::shared_ptr<const std::string> find(const std::string& key) const;
  // Keeps `bytes` and evicts the oldest entries if all together are too large. Bytes that are too
  // large by themselves are not kept. Returns the bytes in any case.
  std::shared_ptr<const std::string> keep(const std::string& key, std::string bytes);

 private:
  struct Kept {
    std::string key;
    std::shared_ptr<const std::string> bytes;
  };
  std::size_t most_bytes_;
  std::deque<Kept> kept_;  // the oldest first
};

}  // namespace hone::trial
