#include "space/space.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "space/compiled_space.h"
#include "space/united_space.h"

namespace hone::space {

bool contains(const Knob& knob, Value value) {
  if (knob.range) return knob.range->first <= value && value <= knob.range->second;
  return std::ranges::find(knob.values, value) != knob.values.end();
}

Space Space::unite(std::string selector, std::string description, std::vector<Space> parts) {
  return Space(UnitedSpace::make(std::move(selector), std::move(description), std::move(parts)));
}

const std::vector<Space>& Space::parts() const {
  static const std::vector<Space> kNone;
  return united_ ? united_->parts() : kNone;
}

const std::vector<Knob>& Space::knobs() const {
  if (united_) return united_->knobs();
  return compiled_->knobs();
}

const std::vector<Constraint>& Space::constraints() const {
  if (united_) return united_->constraints();
  return compiled_->definition().constraints;
}

Result<std::size_t> Space::knob_index(std::string_view name) const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < knobs().size(); ++i) {
    if (knobs()[i].name == name) return i;
    names.push_back(knobs()[i].name);
  }
  const std::string hint = did_you_mean(name, names);
  return input_error("no knob is called '{}'{}{}", name, hint,
                     hint.empty() ? fmt::format("; the knobs are {}", fmt::join(names, ", ")) : "");
}

const std::vector<Value>& Space::narrowed(std::size_t index) const {
  if (united_) return united_->narrowed(index);
  return compiled_->narrowed()[index];
}

Count Space::count() const {
  if (united_) return united_->count();
  const Diagram* diagram = compiled_->diagram();
  if (diagram == nullptr) return {compiled_->bound(), false};
  return {diagram->count(), true};
}

bool Space::empty() const {
  if (united_)
    return std::all_of(parts().begin(), parts().end(),
                       [](const Space& part) { return part.empty(); });
  const Diagram* diagram = compiled_->diagram();
  return diagram != nullptr ? diagram->count() == 0 : !enumerate().next().has_value();
}

Result<Configuration> Space::at(std::uint64_t index) const {
  if (united_) return united_->at(index);
  const Diagram* diagram = compiled_->diagram();
  if (diagram == nullptr) {
    return failure(
        "configuration {} cannot be found by its index: the counts of this space exceed the memory "
        "cap of {} MiB",
        index, compiled_->options().memory_cap >> 20);
  }
  if (index >= diagram->count()) {
    return input_error("there is no configuration {}: the space has {}", index,
                       format_count(diagram->count()));
  }
  Configuration configuration = compiled_->start();
  std::uint32_t node = diagram->root();
  for (std::size_t depth = 0; depth < diagram->layers().size(); ++depth) {
    const Diagram::Layer& layer = diagram->layers()[depth];
    const auto first = layer.before.begin() + layer.nodes[node].first;
    const auto last = layer.before.begin() + layer.nodes[node].last;
    const auto above = std::upper_bound(first, last, index);
    const auto edge = static_cast<std::size_t>(above - layer.before.begin()) - 1;
    index -= layer.before[edge];
    for (std::size_t i = 0; i < layer.width; ++i) {
      configuration.values[compiled_->plan().levels[depth].outputs[i].knob] =
          layer.values[edge * layer.width + i];
    }
    node = layer.children[edge];
  }
  return configuration;
}

Enumerator Space::enumerate() const {
  if (united_) return Enumerator(united_);
  return Enumerator(compiled_);
}

bool Space::is_computed(std::size_t index) const {
  if (united_) return united_->is_computed(index);
  return compiled_->computed()[index];
}

bool Space::is_legal(const Configuration& configuration) const {
  if (united_) {
    const auto part = united_->split(configuration);
    return part && parts()[part->first].is_legal(part->second);
  }
  Configuration copy = configuration;
  return compiled_->holds(copy, false);
}

std::vector<Configuration> Space::neighbours(const Configuration& configuration) const {
  if (united_) return united_->neighbours(configuration);
  std::vector<Configuration> found;
  if (configuration.values.size() != knobs().size()) return found;
  for (std::size_t knob = 0; knob < knobs().size(); ++knob) {
    if (is_computed(knob)) continue;
    for (const Value value : narrowed(knob)) {
      if (value == configuration.values[knob]) continue;
      Configuration candidate = configuration;
      candidate.values[knob] = value;
      if (compiled_->holds(candidate, true)) found.push_back(std::move(candidate));
    }
  }
  return found;
}

Result<Value> Space::value(const Configuration& configuration, std::string_view name) const {
  HONE_ASSIGN(const std::size_t index, knob_index(name));
  return configuration.values[index];
}

Result<Space> Space::relax(const std::vector<std::string>& names) const {
  if (united_) {
    HONE_ASSIGN(auto united, united_->relax(names));
    return Space(std::move(united));
  }
  Definition definition = compiled_->definition();
  std::vector<std::string> soft;
  for (const Constraint& constraint : definition.constraints) {
    if (constraint.hardness == Hardness::kSoft) soft.push_back(constraint.name);
  }
  for (const std::string& name : names) {
    if (name == "all" || std::ranges::find(soft, name) != soft.end()) continue;
    const bool hard =
        std::ranges::any_of(definition.constraints,
                            [&](const Constraint& constraint) { return constraint.name == name; });
    if (hard) {
      return input_error("constraint '{}' is hard: only soft constraints can be relaxed{}", name,
                         soft.empty() ? "" : fmt::format(" ({})", fmt::join(soft, ", ")));
    }
    const std::string hint = did_you_mean(name, soft);
    const std::string all =
        soft.empty() ? "; there are none" : fmt::format("; they are {}", fmt::join(soft, ", "));
    return input_error("no soft constraint is called '{}'{}", name, hint.empty() ? all : hint);
  }
  std::erase_if(definition.constraints, [&](const Constraint& constraint) {
    const bool named = std::ranges::any_of(
        names, [&](const std::string& name) { return name == "all" || name == constraint.name; });
    return named && constraint.hardness == Hardness::kSoft;
  });
  HONE_ASSIGN(auto compiled, CompiledSpace::compile(std::move(definition), compiled_->options()));
  return Space(std::move(compiled));
}

}  // namespace hone::space
