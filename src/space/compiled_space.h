// Spaces behind space::Space: one after narrowing and compilation, which Space and Enumerator
// share, and one of several parts.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "space/plan.h"
#include "space/space.h"

namespace hone::space {

// United space: a selector knob picks a part, beside the knobs of all parts. Knobs that the picked
// part lacks are kAbsent. Space holds it instead of a CompiledSpace after Space::unite.
class UnitedSpace {
 public:
  static std::shared_ptr<const UnitedSpace> make(std::string selector, std::string description,
                                                 std::vector<Space> parts);

  const std::vector<Space>& parts() const { return parts_; }
  const std::vector<Knob>& knobs() const { return knobs_; }
  const std::vector<Constraint>& constraints() const { return constraints_; }
  const std::vector<Value>& narrowed(std::size_t knob) const { return narrowed_[knob]; }
  bool is_computed(std::size_t knob) const { return computed_[knob]; }

  // Returns the part that `configuration` picks, and its configuration there. nullopt if it picks
  // none or sets a knob that the part lacks.
  std::optional<std::pair<std::size_t, Configuration>> split(
      const Configuration& configuration) const;
  Configuration join(std::size_t part, const Configuration& configuration) const;

  Count count() const;
  Result<Configuration> at(std::uint64_t index) const;
  std::vector<Configuration> neighbours(const Configuration& configuration) const;
  std::vector<Violation> check(const Configuration& configuration) const;
  // Draws a part by its count, exact or not, and then a configuration from it.
  Result<Configuration> sample(std::mt19937_64& generator) const;
  Result<std::shared_ptr<const UnitedSpace>> relax(const std::vector<std::string>& names) const;

 private:
  std::vector<Space> parts_;
  std::vector<Knob> knobs_;                       // the selector first
  std::vector<std::vector<std::size_t>> places_;  // by part and its knob: the position in knobs_
  std::vector<Constraint> constraints_;
  std::vector<std::vector<Value>> narrowed_;
  std::vector<bool> computed_;
};

// Solutions of a plan as a layered decision diagram. Subtrees that depend on the same values are
// one node, which knows its number of solutions.
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
  static std::optional<Diagram> build(const EnumerationPlan& plan, std::size_t memory_cap);

  std::uint64_t count() const { return count_; }
  const std::vector<Layer>& layers() const { return layers_; }
  // Node of the first layer from which all solutions start; meaningless where count() is 0.
  std::uint32_t root() const { return root_; }

 private:
  std::vector<Layer> layers_;
  std::uint64_t count_ = 0;
  std::uint32_t root_ = 0;
};

class CompiledSpace {
 public:
  // Errors as SpaceBuilder::build.
  static Result<std::shared_ptr<const CompiledSpace>> compile(Definition definition,
                                                              SpaceOptions options);

  const Definition& definition() const { return definition_; }
  const SpaceOptions& options() const { return options_; }
  const std::vector<Knob>& knobs() const { return knobs_; }
  // By knob: its position in definition().variables.
  const std::vector<std::size_t>& knob_variables() const { return knob_variables_; }
  const std::vector<std::vector<Value>>& narrowed() const { return narrowed_; }
  const std::vector<bool>& computed() const { return computed_; }
  const EnumerationPlan& plan() const { return plan_; }

  // Built on first use; null where it would exceed the memory cap.
  const Diagram* diagram() const;
  // The product of the domains that enumeration tries; saturates.
  std::uint64_t bound() const;

  // Returns a configuration with only the values that all configurations share.
  Configuration start() const;
  // Whether `configuration` satisfies every constraint. With `follow`, computed knobs are set from
  // the others instead of compared.
  bool holds(Configuration& configuration, bool follow) const;

 private:
  CompiledSpace() = default;
  void describe(std::vector<Domain> domains);

  Definition definition_;
  SpaceOptions options_;
  std::vector<Knob> knobs_;
  std::vector<std::size_t> knob_variables_;
  std::vector<std::vector<Value>> narrowed_;
  std::vector<bool> computed_;
  std::vector<std::size_t> tried_;  // by level of the plan: the knob it tries
  std::vector<std::vector<Value>> tried_sorted_;
  EnumerationPlan plan_;
  mutable std::once_flag diagram_once_;
  mutable std::optional<Diagram> diagram_;
};

}  // namespace hone::space
