// United space: a selector knob picks a part, beside the knobs of all parts. Knobs that the picked
// part lacks are kAbsent. Space holds it instead of a CompiledSpace after Space::unite.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "space/space.h"

namespace hone::space {

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

}  // namespace hone::space
