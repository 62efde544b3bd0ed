#include <numeric>
#include <optional>
#include <set>
#include <unordered_set>
#include <utility>
#include <variant>

#include "space/arithmetic.h"
#include "space/compiled_space.h"
#include "space/space.h"

namespace hone::space {
namespace {

// Walks the diagram if there is one. Otherwise, where it would be too large, tries values depth
// first.
class CompiledEnumerator {
 public:
  explicit CompiledEnumerator(std::shared_ptr<const CompiledSpace> space)
      : space_(std::move(space)),
        plan_(space_->plan()),
        diagram_(space_->diagram()),
        current_(space_->start()),
        slots_(plan_.slots),
        positions_(plan_.levels.size(), 0),
        ends_(plan_.levels.size(), 0) {}

  const Configuration* next() {
    if (finished_) return nullptr;
    const bool found = diagram_ != nullptr ? advance_in_diagram() : advance_by_trying();
    started_ = true;
    finished_ = !found || plan_.levels.empty();
    return found ? &current_ : nullptr;
  }

 private:
  bool advance_in_diagram() {
    const auto& layers = diagram_->layers();
    if (diagram_->count() == 0) return false;
    if (layers.empty()) return true;
    std::size_t depth = 0;
    if (started_) {
      depth = layers.size() - 1;
      while (++positions_[depth] == ends_[depth]) {
        if (depth == 0) return false;
        --depth;
      }
    } else {
      enter(0, diagram_->root());
    }
    for (;; ++depth) {
      const Diagram::Layer& layer = layers[depth];
      const std::size_t edge = positions_[depth];
      for (std::size_t i = 0; i < layer.width; ++i) {
        current_.values[plan_.levels[depth].outputs[i].knob] = layer.values[edge * layer.width + i];
      }
      if (depth + 1 == layers.size()) return true;
      enter(depth + 1, layer.children[edge]);
    }
  }

  void enter(std::size_t depth, std::uint32_t node) {
    positions_[depth] = diagram_->layers()[depth].nodes[node].first;
    ends_[depth] = diagram_->layers()[depth].nodes[node].last;
  }

  bool advance_by_trying() {
    if (!plan_.feasible) return false;
    if (plan_.levels.empty()) return true;
    std::size_t depth = started_ ? plan_.levels.size() - 1 : 0;
    for (;;) {
      const Level& level = plan_.levels[depth];
      if (positions_[depth] == level.values.size()) {
        if (depth == 0) return false;
        positions_[depth] = 0;
        --depth;
        continue;
      }
      slots_[level.slot] = level.values[positions_[depth]++];
      if (!plan_.run(level, slots_.data())) continue;
      for (const Output& output : level.outputs) {
        current_.values[output.knob] = slots_[output.slot];
      }
      if (depth + 1 == plan_.levels.size()) return true;
      ++depth;
    }
  }

  std::shared_ptr<const CompiledSpace> space_;
  const EnumerationPlan& plan_;
  const Diagram* diagram_;
  Configuration current_;
  std::vector<Value> slots_;
  std::vector<std::size_t> positions_;  // by level: the edge taken, or the next value to try
  std::vector<std::size_t> ends_;
  bool started_ = false;
  bool finished_ = false;
};

// Walks one part after the other.
class UnitedEnumerator {
 public:
  explicit UnitedEnumerator(std::shared_ptr<const UnitedSpace> space) : space_(std::move(space)) {}

  const Configuration* next() {
    for (; part_ < space_->parts().size(); ++part_, inner_.reset()) {
      if (!inner_) inner_ = space_->parts()[part_].enumerate();
      if (!inner_->next(found_)) continue;
      current_ = space_->join(part_, found_);
      return &current_;
    }
    return nullptr;
  }

 private:
  std::shared_ptr<const UnitedSpace> space_;
  std::size_t part_ = 0;
  std::optional<Enumerator> inner_;
  Configuration found_;
  Configuration current_;
};

}  // namespace

struct EnumeratorState {
  std::variant<CompiledEnumerator, UnitedEnumerator> walk;

  // The next configuration; null after the last.
  const Configuration* next() {
    return std::visit([](auto& each) { return each.next(); }, walk);
  }
};

Enumerator::Enumerator(std::shared_ptr<const CompiledSpace> space)
    : state_(std::make_unique<EnumeratorState>(CompiledEnumerator(std::move(space)))) {}
Enumerator::Enumerator(std::shared_ptr<const UnitedSpace> space)
    : state_(std::make_unique<EnumeratorState>(UnitedEnumerator(std::move(space)))) {}
Enumerator::Enumerator(Enumerator&&) noexcept = default;
Enumerator& Enumerator::operator=(Enumerator&&) noexcept = default;
Enumerator::~Enumerator() = default;

std::optional<Configuration> Enumerator::next() {
  const Configuration* found = state_->next();
  if (found == nullptr) return std::nullopt;
  return *found;
}

bool Enumerator::next(Configuration& configuration) {
  const Configuration* found = state_->next();
  if (found != nullptr) configuration = *found;
  return found != nullptr;
}

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
  const EnumerationPlan& plan = space.plan();
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
