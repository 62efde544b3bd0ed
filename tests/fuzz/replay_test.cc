// Runs a fuzz target over its corpus, and over changed files of it, the same ones each time: what a
// build without libFuzzer can do in a moment.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "base/file.h"
#include "tests/fuzz/fuzz_target.h"

namespace hone::fuzz {
namespace {

std::vector<std::string> corpus() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(HONE_CORPUS))
    paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> files;
  for (const auto& path : paths) files.push_back(read_file(path).value_or(""));
  return files;
}

void run(const std::string& input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

// SplitMix64 (Steele, Lea, Flood 2014): the standard library's distributions differ between
// implementations.
class Random {
 public:
  std::size_t below(std::size_t limit) {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return static_cast<std::size_t>((z ^ (z >> 31)) % limit);
  }

 private:
  std::uint64_t state_ = 42;
};

std::string mutated(const std::vector<std::string>& files, Random& random) {
  std::string input = files[random.below(files.size())];
  for (std::size_t changes = 1 + random.below(4); changes > 0; --changes) {
    const std::size_t at = random.below(input.size() + 1);
    switch (random.below(5)) {
      case 0:
        input.insert(at, 1, static_cast<char>(random.below(256)));
        break;
      case 1:
        input.erase(at, 1 + random.below(16));
        break;
      case 2:
        if (at < input.size()) input[at] = static_cast<char>(input[at] ^ (1 << random.below(8)));
        break;
      case 3:
        if (at < input.size()) input[at] = static_cast<char>(random.below(256));
        break;
      default: {
        const std::string& other = files[random.below(files.size())];
        const std::size_t from = random.below(other.size() + 1);
        input.insert(at, other, from, 1 + random.below(64));
      }
    }
  }
  return input;
}

TEST(HONE_TARGET, TakesItsCorpus) {
  const std::vector<std::string> files = corpus();
  ASSERT_FALSE(files.empty());
  for (const std::string& file : files) run(file);
  run("");
}

TEST(HONE_TARGET, TakesWhatIsLikeItsCorpus) {
  const std::vector<std::string> files = corpus();
  Random random;
  for (int i = 0; i < HONE_MUTATIONS; ++i) run(mutated(files, random));
}

}  // namespace
}  // namespace hone::fuzz
