#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <unordered_set>
#include <utility>

#include "space/compiled_space.h"
#include "space/random.h"
#include "space/space.h"
#include "space/united_space.h"

namespace hone::space {
namespace {

template <class T>
void shuffle(std::vector<T>& items, std::mt19937_64& generator) {
  for (std::size_t i = items.size(); i > 1; --i) {
    std::swap(items[i - 1], items[uniform_below(i, generator)]);
  }
}

// Draws from the product of the domains until a configuration is legal or `draws` are used up.
std::optional<Configuration> draw(const CompiledSpace& space, std::mt19937_64& generator,
                                  std::uint64_t& draws) {
  const Plan& plan = space.plan();
  Configuration configuration = space.start();
  std::vector<Value> slots = plan.slots;
  for (; plan.feasible && draws > 0; --draws) {
    bool legal = true;
    for (const Level& level : plan.levels) {
      slots[level.slot] = level.values[uniform_below(level.values.size(), generator)];
      legal = plan.run(level, slots.data());
      if (!legal) break;
      for (const Output& output : level.outputs) {
        configuration.values[output.knob] = slots[output.slot];
      }
    }
    if (legal) return configuration;
  }
  return std::nullopt;
}

// `n` different numbers below `count`, each set equally likely (Floyd's algorithm; Bentley and
// Floyd, "A sample of brilliance", 1987).
std::vector<std::uint64_t> different_indices(std::size_t n, std::uint64_t count,
                                             std::mt19937_64& generator) {
  std::vector<std::uint64_t> indices;
  if (n >= count) {
    indices.resize(count);
    std::iota(indices.begin(), indices.end(), std::uint64_t{0});
  } else {
    std::unordered_set<std::uint64_t> taken;
    for (std::uint64_t last = count - n; last < count; ++last) {
      const std::uint64_t drawn = uniform_below(last + 1, generator);
      indices.push_back(taken.insert(drawn).second ? drawn : last);
      taken.insert(indices.back());
    }
  }
  shuffle(indices, generator);
  return indices;
}

}  // namespace

Result<Configuration> Space::sample(std::mt19937_64& generator) const {
  if (united_) return united_->sample(generator);
  const Count total = count();
  if (total.value == 0) return failure("the space is empty: no configuration to sample");
  if (total.exact) return at(uniform_below(total.value, generator));
  std::uint64_t draws = kMaximumDraws;
  if (auto drawn = draw(*compiled_, generator, draws)) return *std::move(drawn);
  return failure("no legal configuration among {} drawn at random", kMaximumDraws);
}

Result<std::vector<Configuration>> Space::samples(std::size_t n, std::uint64_t seed) const {
  std::mt19937_64 generator(seed);
  const Count total = count();
  std::vector<Configuration> configurations;
  if (total.exact) {
    for (const std::uint64_t index : different_indices(n, total.value, generator)) {
      HONE_ASSIGN(Configuration configuration, at(index));
      configurations.push_back(std::move(configuration));
    }
    return configurations;
  }
  const auto draw_any = [this](std::mt19937_64& numbers) -> std::optional<Configuration> {
    auto drawn = sample(numbers);
    if (!drawn) return std::nullopt;
    return *std::move(drawn);
  };
  std::set<Configuration> known;
  std::uint64_t draws = kMaximumDraws;
  while (configurations.size() < n && draws > 0) {
    auto drawn = united_ ? draw_any(generator) : draw(*compiled_, generator, draws);
    if (!drawn) break;
    // Count legal draws too, or a space with fewer than n configurations would never end.
    --draws;
    if (known.insert(*drawn).second) configurations.push_back(*std::move(drawn));
  }
  if (configurations.empty() && n > 0) {
    return failure("no legal configuration among {} drawn at random", kMaximumDraws);
  }
  return configurations;
}

}  // namespace hone::space
