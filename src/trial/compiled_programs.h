// What the compiler made of whole programs, kept in memory for when it is asked for again: front
// halves (jobs::kFrontHalf), and modules that a search and a proof both need.
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

  // Null where nothing is kept by that name (provider::key_of a job).
  std::shared_ptr<const std::string> find(const std::string& key) const;
  // The oldest are forgotten for it where all together would be too much; what is too large by
  // itself is not kept. Returns the bytes in any case.
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
