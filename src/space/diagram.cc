#include "space/diagram.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace hone::space {
namespace {

constexpr std::uint32_t kNothingBelow = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint32_t kUnknown = kNothingBelow - 1;

// The nodes of a layer by the values their subtree depends on; open addressing.
class NodeTable {
 public:
  explicit NodeTable(std::size_t width) : width_(width), buckets_(16, kEmpty) {}

  // The entry of `key`, which is added with node kUnknown when it is new.
  std::size_t find_or_add(const Value* key) {
    if ((nodes_.size() + 1) * 2 > buckets_.size()) grow();
    for (std::size_t i = hash(key) & (buckets_.size() - 1);; i = (i + 1) & (buckets_.size() - 1)) {
      const std::uint32_t entry = buckets_[i];
      if (entry == kEmpty) {
        buckets_[i] = static_cast<std::uint32_t>(nodes_.size());
        keys_.insert(keys_.end(), key, key + width_);
        nodes_.push_back(kUnknown);
        return nodes_.size() - 1;
      }
      if (std::equal(key, key + width_, keys_.data() + entry * width_)) return entry;
    }
  }
  std::uint32_t node(std::size_t entry) const { return nodes_[entry]; }
  void set_node(std::size_t entry, std::uint32_t node) { nodes_[entry] = node; }
  std::size_t bytes_per_entry() const { return width_ * sizeof(Value) + 3 * sizeof(std::uint32_t); }

 private:
  static constexpr std::uint32_t kEmpty = std::numeric_limits<std::uint32_t>::max();

  std::uint64_t hash(const Value* key) const {
    std::uint64_t hash = 0x9E3779B97F4A7C15u;
    for (std::size_t i = 0; i < width_; ++i) {
      hash = (hash ^ static_cast<std::uint64_t>(key[i])) * 0xD6E8FEB86659FD93u;
      hash ^= hash >> 29;
    }
    return hash;
  }

  void grow() {
    std::vector<std::uint32_t> larger(buckets_.size() * 4, kEmpty);
    for (std::uint32_t entry = 0; entry < nodes_.size(); ++entry) {
      std::size_t i = hash(keys_.data() + entry * width_) & (larger.size() - 1);
      while (larger[i] != kEmpty) i = (i + 1) & (larger.size() - 1);
      larger[i] = entry;
    }
    buckets_ = std::move(larger);
  }

  std::size_t width_;
  std::vector<std::uint32_t> buckets_;
  std::vector<Value> keys_;
  std::vector<std::uint32_t> nodes_;
};

class DiagramBuilder {
 public:
  DiagramBuilder(const Plan& plan, std::size_t memory_cap)
      : plan_(plan), memory_cap_(memory_cap), slots_(plan.slots), layers_(plan.levels.size()) {
    for (std::size_t depth = 0; depth < plan.levels.size(); ++depth) {
      layers_[depth].width = plan.levels[depth].outputs.size();
      tables_.emplace_back(plan.levels[depth].key.size());
    }
    keys_.resize(plan.slots.size());
  }

  // Returns the node at `depth` for the values in the slots; kNothingBelow if there is no solution.
  std::uint32_t node(std::size_t depth) {
    const Level& level = plan_.levels[depth];
    for (std::size_t i = 0; i < level.key.size(); ++i) keys_[i] = slots_[level.key[i]];
    const std::size_t entry = tables_[depth].find_or_add(keys_.data());
    const std::uint32_t known = tables_[depth].node(entry);
    if (known != kUnknown) return known;
    bytes_ += tables_[depth].bytes_per_entry();
    const std::uint32_t made = expand(depth);
    tables_[depth].set_node(entry, made);
    return made;
  }

  bool exceeded() const { return exceeded_; }
  std::vector<Diagram::Layer>&& layers() { return std::move(layers_); }

 private:
  std::uint32_t expand(std::size_t depth) {
    const Level& level = plan_.levels[depth];
    const bool last = depth + 1 == plan_.levels.size();
    Diagram::Layer& layer = layers_[depth];
    Diagram::Node made;
    made.first = static_cast<std::uint32_t>(layer.children.size());
    for (const Value value : level.values) {
      slots_[level.slot] = value;
      if (!plan_.run(level, slots_.data())) continue;
      const std::uint32_t child = last ? 0 : node(depth + 1);
      if (exceeded_) return kNothingBelow;
      if (child == kNothingBelow) continue;
      const std::uint64_t below = last ? 1 : layers_[depth + 1].nodes[child].count;
      bytes_ += sizeof(child) + sizeof(below) + layer.width * sizeof(Value);
      layer.children.push_back(child);
      layer.before.push_back(made.count);
      for (const Output& output : level.outputs) layer.values.push_back(slots_[output.slot]);
      exceeded_ = bytes_ > memory_cap_ || layer.children.size() >= kUnknown ||
                  __builtin_add_overflow(made.count, below, &made.count);
      if (exceeded_) return kNothingBelow;
    }
    if (made.count == 0) return kNothingBelow;
    made.last = static_cast<std::uint32_t>(layer.children.size());
    layer.nodes.push_back(made);
    bytes_ += sizeof(made);
    return static_cast<std::uint32_t>(layer.nodes.size() - 1);
  }

  const Plan& plan_;
  std::size_t memory_cap_;
  std::size_t bytes_ = 0;
  bool exceeded_ = false;
  std::vector<Value> slots_;
  std::vector<Value> keys_;
  std::vector<NodeTable> tables_;
  std::vector<Diagram::Layer> layers_;
};

}  // namespace

std::optional<Diagram> Diagram::build(const Plan& plan, std::size_t memory_cap) {
  Diagram diagram;
  if (!plan.feasible) return diagram;
  if (plan.levels.empty()) {
    diagram.count_ = 1;
    return diagram;
  }
  DiagramBuilder builder(plan, memory_cap);
  const std::uint32_t root = builder.node(0);
  if (builder.exceeded()) return std::nullopt;
  diagram.layers_ = builder.layers();
  if (root == kNothingBelow) return diagram;
  diagram.root_ = root;
  diagram.count_ = diagram.layers_[0].nodes[root].count;
  return diagram;
}

}  // namespace hone::space
