#include "search/strategy.h"

#include <map>
#include <random>
#include <set>
#include <string>

#include "base/text.h"

namespace hone::search {
namespace {

// Neither strategy learns: what is told is not kept.
class Exhaustive final : public Strategy {
 public:
  explicit Exhaustive(const space::Space& space) : enumerator_(space.enumerate()) {}

  std::string_view name() const override { return "exhaustive"; }

  std::vector<space::Configuration> ask(std::size_t count) override {
    std::vector<space::Configuration> proposals;
    while (proposals.size() < count) {
      std::optional<space::Configuration> next = enumerator_.next();
      if (!next) break;
      proposals.push_back(std::move(*next));
    }
    return proposals;
  }

  void tell(const space::Configuration&, std::optional<double>) override {}

 private:
  space::Enumerator enumerator_;
};

// A uniform permutation where the space can be indexed: Fisher-Yates over a sparse array, so that
// a space of millions costs memory only for what was drawn.
class Random final : public Strategy {
 public:
  Random(const space::Space& space, std::uint64_t seed)
      : space_(space), generator_(seed), remaining_(space.count().value) {}

  std::string_view name() const override { return "random"; }

  std::vector<space::Configuration> ask(std::size_t count) override {
    return space_.count().exact ? ask_by_index(count) : ask_by_rejection(count);
  }

  void tell(const space::Configuration&, std::optional<double>) override {}

 private:
  std::vector<space::Configuration> ask_by_index(std::size_t count) {
    std::vector<space::Configuration> proposals;
    while (proposals.size() < count && remaining_ > 0) {
      const std::uint64_t drawn =
          std::uniform_int_distribution<std::uint64_t>(0, remaining_ - 1)(generator_);
      const std::uint64_t index = at(drawn);
      moved_[drawn] = at(--remaining_);
      if (auto configuration = space_.at(index)) proposals.push_back(std::move(*configuration));
    }
    return proposals;
  }

  std::vector<space::Configuration> ask_by_rejection(std::size_t count) {
    // Repeats become frequent only when most of a space is drawn, and a space too large to count
    // is never drawn that far.
    constexpr int kMostRepeats = 1000;
    std::vector<space::Configuration> proposals;
    for (int repeats = 0; proposals.size() < count && repeats < kMostRepeats;) {
      auto drawn = space_.sample(generator_);
      if (!drawn) break;
      if (seen_.insert(*drawn).second)
        proposals.push_back(std::move(*drawn));
      else
        ++repeats;
    }
    return proposals;
  }

  std::uint64_t at(std::uint64_t position) const {
    const auto moved = moved_.find(position);
    return moved == moved_.end() ? position : moved->second;
  }

  const space::Space& space_;
  std::mt19937_64 generator_;
  std::uint64_t remaining_;
  std::map<std::uint64_t, std::uint64_t> moved_;  // positions whose content was swapped
  std::set<space::Configuration> seen_;
};

}  // namespace

Result<std::unique_ptr<Strategy>> make_strategy(std::string_view name, const space::Space& space,
                                                std::uint64_t seed) {
  if (name == "exhaustive") return std::make_unique<Exhaustive>(space);
  if (name == "random") return std::make_unique<Random>(space, seed);
  return input_error("'{}' is no strategy{}; known: exhaustive, random", name,
                     did_you_mean(name, {"exhaustive", "random"}));
}

}  // namespace hone::search
