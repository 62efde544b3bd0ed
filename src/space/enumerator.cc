#include <optional>
#include <utility>
#include <variant>

#include "space/compiled_space.h"
#include "space/united_space.h"

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
  const Plan& plan_;
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

}  // namespace hone::space
