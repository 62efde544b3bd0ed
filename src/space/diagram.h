// Solutions of a plan as a layered decision diagram. Subtrees that depend on the same values are
// one node, which knows its number of solutions.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "space/plan.h"

namespace hone::space {

class Diagram {
 public:
  struct Node {
    std::uint32_t first = 0, last = 0;  // its edges, half open
    std::uint64_t count = 0;            // solutions below it
  };
  struct Layer {
    std::vector<Node> nodes;
    // By edge: the node of the next layer, the solutions of the same node's earlier edges, and
    // `width` values of the level's outputs.
    std::vector<std::uint32_t> children;
    std::vector<std::uint64_t> before;
    std::vector<Value> values;
    std::size_t width = 0;
  };

  // Returns nullopt if it would take more than `memory_cap` bytes or the count exceeds 64 bits.
  static std::optional<Diagram> build(const Plan& plan, std::size_t memory_cap);

  std::uint64_t count() const { return count_; }
  const std::vector<Layer>& layers() const { return layers_; }
  // Node of the first layer from which all solutions start; meaningless where count() is 0.
  std::uint32_t root() const { return root_; }

 private:
  std::vector<Layer> layers_;
  std::uint64_t count_ = 0;
  std::uint32_t root_ = 0;
};

}  // namespace hone::space
