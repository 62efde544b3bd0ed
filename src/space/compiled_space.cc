#include "space/compiled_space.h"

#include <algorithm>
#include <limits>

#include "base/text.h"

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
  DiagramBuilder(const EnumerationPlan& plan, std::size_t memory_cap)
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

  const EnumerationPlan& plan_;
  std::size_t memory_cap_;
  std::size_t bytes_ = 0;
  bool exceeded_ = false;
  std::vector<Value> slots_;
  std::vector<Value> keys_;
  std::vector<NodeTable> tables_;
  std::vector<Diagram::Layer> layers_;
};

}  // namespace

std::optional<Diagram> Diagram::build(const EnumerationPlan& plan, std::size_t memory_cap) {
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

namespace {

Domain domain_of(const Variable& variable) {
  Domain domain;
  domain.interval = {variable.lower, variable.upper};
  if (!variable.ranged) {
    domain.listed = true;
    domain.values = variable.values;
  }
  return domain;
}

// Returns the requirements with each variable that has one value replaced by it.
std::vector<TermId> fix_single_values(const TermGraph& from, const std::vector<TermId>& old,
                                      const std::vector<Domain>& domains, TermGraph& to) {
  std::vector<TermId> replacements;
  for (std::size_t i = 0; i < domains.size(); ++i) {
    replacements.push_back(domains[i].interval.is_single() ? to.constant(domains[i].interval.lower)
                                                           : to.variable(i));
  }
  std::vector<TermId> requirements;
  for (const TermId requirement : old) {
    to.split_requirement(to.add(from, requirement, replacements), requirements);
  }
  return requirements;
}

Status list_tried(const Definition& definition, const TermGraph& graph, const Order& order,
                  std::vector<Domain>& domains) {
  const auto list = [&](const std::vector<Step>& steps,
                        const std::vector<TermId>& requirements) -> Status {
    for (const Step& step : steps) {
      if (step.solved) continue;
      Domain& domain = domains[step.variable];
      if (list_values(graph, requirements, step.variable, SpaceBuilder::kMaximumDomain, domain)) {
        continue;
      }
      const Variable& variable = definition.variables[step.variable];
      return input_error(
          "{} '{}' may have any of {} values in [{}, {}]: state tighter bounds, a list of values, "
          "or an equality that gives it",
          variable.auxiliary ? "auxiliary variable" : "knob", variable.name,
          format_count(domain.size()), domain.interval.lower, domain.interval.upper);
    }
    return {};
  };
  HONE_TRY(list(order.steps, order.requirements));
  for (const Existence& existence : order.existences) {
    HONE_TRY(list(existence.steps, existence.requirements));
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<const CompiledSpace>> CompiledSpace::compile(Definition definition,
                                                                    SpaceOptions options) {
  std::shared_ptr<CompiledSpace> space(new CompiledSpace);
  space->definition_ = std::move(definition);
  space->options_ = options;
  const std::vector<Variable>& variables = space->definition_.variables;

  TermGraph stated;
  std::vector<TermId> own;
  std::vector<Domain> domains;
  std::vector<std::optional<std::size_t>> knob_of(variables.size());
  std::vector<bool> is_knob(variables.size());
  for (std::size_t i = 0; i < variables.size(); ++i) {
    own.push_back(stated.variable(i));
    domains.push_back(domain_of(variables[i]));
    is_knob[i] = !variables[i].auxiliary;
    if (!is_knob[i]) continue;
    knob_of[i] = space->knob_variables_.size();
    space->knob_variables_.push_back(i);
  }
  std::vector<TermId> requirements;
  for (const Constraint& constraint : space->definition_.constraints) {
    stated.split_requirement(stated.add(constraint.expression, own), requirements);
  }
  Narrowed narrowed = narrow(stated, std::move(requirements), std::move(domains));
  if (narrowed.feasible) {
    TermGraph graph;
    requirements = fix_single_values(stated, narrowed.requirements, narrowed.domains, graph);
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < variables.size(); ++i) {
      if (!narrowed.domains[i].interval.is_single()) open.push_back(i);
    }
    const Order order = order_variables(graph, requirements, narrowed.domains, is_knob, open);
    HONE_TRY(list_tried(space->definition_, graph, order, narrowed.domains));
    space->computed_.assign(space->knob_variables_.size(), false);
    for (const Step& step : order.steps) {
      if (!knob_of[step.variable]) continue;
      if (step.solved) {
        space->computed_[*knob_of[step.variable]] = true;
      } else {
        space->tried_.push_back(*knob_of[step.variable]);
      }
    }
    space->plan_ = make_plan(graph, order, narrowed.domains, knob_of);
    for (const Level& level : space->plan_.levels) {
      space->tried_sorted_.push_back(level.values);
      std::ranges::sort(space->tried_sorted_.back());
    }
  } else {
    space->plan_.feasible = false;
    space->computed_.assign(space->knob_variables_.size(), false);
  }
  space->describe(std::move(narrowed.domains));
  return space;
}

void CompiledSpace::describe(std::vector<Domain> domains) {
  for (const std::size_t i : knob_variables_) {
    const Variable& variable = definition_.variables[i];
    Domain& domain = domains[i];
    if (!plan_.feasible) {
      domain = {};
      domain.listed = true;
    }
    // Lists the values of a computed variable only if there are few: its range may be too large.
    if (!domain.listed && domain.size() <= SpaceBuilder::kMaximumDomain)
      domain.values = domain.all_values();
    Knob knob{variable.name, variable.description, variable.values, std::nullopt};
    if (variable.ranged) {
      knob.values = domain.values;
      knob.range = {variable.lower, variable.upper};
    }
    knobs_.push_back(std::move(knob));
    narrowed_.push_back(std::move(domain.values));
  }
}

const Diagram* CompiledSpace::diagram() const {
  std::call_once(diagram_once_, [this] { diagram_ = Diagram::build(plan_, options_.memory_cap); });
  return diagram_ ? &*diagram_ : nullptr;
}

std::uint64_t CompiledSpace::bound() const {
  if (!plan_.feasible) return 0;
  std::uint64_t product = 1;
  for (const Level& level : plan_.levels) {
    if (__builtin_mul_overflow(product, level.values.size(), &product)) {
      return std::numeric_limits<std::uint64_t>::max();
    }
  }
  return product;
}

Configuration CompiledSpace::start() const {
  Configuration configuration;
  configuration.values.resize(knobs_.size());
  for (const Output& output : plan_.fixed) {
    configuration.values[output.knob] = plan_.slots[output.slot];
  }
  return configuration;
}

bool CompiledSpace::holds(Configuration& configuration, bool follow) const {
  if (!plan_.feasible || configuration.values.size() != knobs_.size()) return false;
  for (const Output& output : plan_.fixed) {
    if (configuration.values[output.knob] != plan_.slots[output.slot]) return false;
  }
  std::vector<Value> slots = plan_.slots;
  for (std::size_t depth = 0; depth < plan_.levels.size(); ++depth) {
    const Level& level = plan_.levels[depth];
    const Value value = configuration.values[tried_[depth]];
    const std::vector<Value>& domain = tried_sorted_[depth];
    if (!std::ranges::binary_search(domain, value)) return false;
    slots[level.slot] = value;
    if (!plan_.run(level, slots.data())) return false;
    for (const Output& output : level.outputs) {
      Value& stated = configuration.values[output.knob];
      if (follow) stated = slots[output.slot];
      if (stated != slots[output.slot]) return false;
    }
  }
  return true;
}

}  // namespace hone::space
