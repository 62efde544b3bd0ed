#include <algorithm>
#include <set>

#include "base/text.h"
#include "space/arithmetic.h"
#include "space/compiled_space.h"

namespace hone::space {
namespace {

// Adds values to a sorted list without repeating one.
void merge(std::vector<Value>& into, const std::vector<Value>& more) {
  std::set<Value> all(into.begin(), into.end());
  all.insert(more.begin(), more.end());
  into.assign(all.begin(), all.end());
}

// Merges ranges: a knob that one part states as values has none.
std::optional<std::pair<Value, Value>> joined(const std::optional<std::pair<Value, Value>>& a,
                                              const std::optional<std::pair<Value, Value>>& b) {
  if (!a || !b) return std::nullopt;
  return std::pair(std::min(a->first, b->first), std::max(a->second, b->second));
}

}  // namespace

std::shared_ptr<const UnitedSpace> UnitedSpace::make(std::string selector, std::string description,
                                                     std::vector<Space> parts) {
  auto united = std::make_shared<UnitedSpace>();
  united->parts_ = std::move(parts);
  std::vector<Knob>& knobs = united->knobs_;
  knobs.push_back({std::move(selector), std::move(description), {}, {}});
  std::vector<std::size_t> held(1, united->parts_.size());  // by how many parts
  std::vector<bool> computed(1, false);
  std::vector<std::vector<Value>> narrowed(1);
  for (const Space& part : united->parts_) {
    knobs[0].values.push_back(static_cast<Value>(knobs[0].values.size()));
    std::vector<std::size_t>& places = united->places_.emplace_back();
    for (std::size_t i = 0; i < part.knobs().size(); ++i) {
      const Knob& knob = part.knobs()[i];
      const auto known = std::find_if(knobs.begin() + 1, knobs.end(),
                                      [&](const Knob& each) { return each.name == knob.name; });
      const auto place = static_cast<std::size_t>(known - knobs.begin());
      places.push_back(place);
      const bool is_new = known == knobs.end();
      if (is_new) {
        knobs.push_back({knob.name, knob.description, {}, {}});
        held.push_back(0);
        computed.push_back(true);
        narrowed.emplace_back();
      } else if (knobs[place].description.empty()) {
        knobs[place].description = knob.description;
      }
      ++held[place];
      computed[place] = computed[place] && part.is_computed(i);
      if (is_new)
        knobs[place].range = knob.range;
      else
        knobs[place].range = joined(knobs[place].range, knob.range);
      merge(knobs[place].values, knob.values);
      merge(narrowed[place], part.narrowed(i));
    }
    for (const Constraint& constraint : part.constraints())
      united->constraints_.push_back(constraint);
  }
  narrowed[0] = knobs[0].values;
  for (std::size_t i = 1; i < knobs.size(); ++i) {
    if (held[i] == united->parts_.size()) continue;
    merge(knobs[i].values, {Space::kAbsent});
    if (knobs[i].range)
      knobs[i].range = joined(knobs[i].range, std::pair(Space::kAbsent, Space::kAbsent));
    merge(narrowed[i], {Space::kAbsent});
  }
  united->narrowed_ = std::move(narrowed);
  united->computed_ = std::move(computed);
  return united;
}

std::optional<std::pair<std::size_t, Configuration>> UnitedSpace::split(
    const Configuration& configuration) const {
  if (configuration.values.size() != knobs_.size()) return std::nullopt;
  const Value picked = configuration.values[0];
  if (picked < 0 || picked >= static_cast<Value>(parts_.size())) return std::nullopt;
  const auto part = static_cast<std::size_t>(picked);
  std::vector<bool> held(knobs_.size(), false);
  Configuration inner;
  for (const std::size_t place : places_[part]) {
    inner.values.push_back(configuration.values[place]);
    held[place] = true;
  }
  for (std::size_t i = 1; i < knobs_.size(); ++i)
    if (!held[i] && configuration.values[i] != Space::kAbsent) return std::nullopt;
  return std::pair(part, std::move(inner));
}

Configuration UnitedSpace::join(std::size_t part, const Configuration& configuration) const {
  Configuration outer;
  outer.values.assign(knobs_.size(), Space::kAbsent);
  outer.values[0] = static_cast<Value>(part);
  for (std::size_t i = 0; i < configuration.values.size(); ++i)
    outer.values[places_[part][i]] = configuration.values[i];
  return outer;
}

Count UnitedSpace::count() const {
  Count all;
  for (const Space& part : parts_) {
    const Count count = part.count();
    all.exact = all.exact && count.exact;
    if (__builtin_add_overflow(all.value, count.value, &all.value))
      all = {std::numeric_limits<std::uint64_t>::max(), false};
  }
  return all;
}

Result<Configuration> UnitedSpace::at(std::uint64_t index) const {
  std::uint64_t before = 0;
  for (std::size_t part = 0; part < parts_.size(); ++part) {
    const std::uint64_t count = parts_[part].count().value;
    if (index - before < count) {
      HONE_ASSIGN(const Configuration inner, parts_[part].at(index - before));
      return join(part, inner);
    }
    before += count;
  }
  return input_error("there is no configuration {}: the space has {}", index, format_count(before));
}

Result<Configuration> UnitedSpace::sample(std::mt19937_64& generator) const {
  const Count total = count();
  if (total.value == 0) return failure("the space is empty: no configuration to sample");
  std::uint64_t drawn = uniform_below(total.value, generator);
  std::size_t part = 0;
  while (drawn >= parts_[part].count().value) drawn -= parts_[part++].count().value;
  HONE_ASSIGN(const Configuration inner, parts_[part].sample(generator));
  return join(part, inner);
}

std::vector<Configuration> UnitedSpace::neighbours(const Configuration& configuration) const {
  std::vector<Configuration> found;
  const auto here = split(configuration);
  if (!here) return found;
  for (const Configuration& inner : parts_[here->first].neighbours(here->second))
    found.push_back(join(here->first, inner));
  // The other part may contain the same values, if it has these knobs.
  for (std::size_t part = 0; part < parts_.size(); ++part) {
    Configuration moved = configuration;
    moved.values[0] = static_cast<Value>(part);
    const auto there = part == here->first ? std::nullopt : split(moved);
    if (there && parts_[part].is_legal(there->second)) found.push_back(std::move(moved));
  }
  return found;
}

std::vector<Violation> UnitedSpace::check(const Configuration& configuration) const {
  const auto here = split(configuration);
  if (here) return parts_[here->first].check(here->second);
  if (configuration.values.size() != knobs_.size())
    return {{"domain", Hardness::kHard,
             fmt::format("a configuration has one value for each of the {} knobs; this one has {}",
                         knobs_.size(), configuration.values.size())}};
  if (!contains(knobs_[0], configuration.values[0]))
    return {
        {"domain", Hardness::kHard,
         fmt::format("{} is one of {}: {} = {}", knobs_[0].name, fmt::join(knobs_[0].values, ", "),
                     knobs_[0].name, configuration.values[0])}};
  std::vector<Violation> found;
  const auto& places = places_[static_cast<std::size_t>(configuration.values[0])];
  for (std::size_t i = 1; i < knobs_.size(); ++i)
    if (configuration.values[i] != Space::kAbsent && std::ranges::find(places, i) == places.end())
      found.push_back({"domain", Hardness::kHard,
                       fmt::format("with {} = {} there is no {}, which must be {}: {} = {}",
                                   knobs_[0].name, configuration.values[0], knobs_[i].name,
                                   Space::kAbsent, knobs_[i].name, configuration.values[i])});
  return found;
}

Result<std::shared_ptr<const UnitedSpace>> UnitedSpace::relax(
    const std::vector<std::string>& names) const {
  std::vector<Space> relaxed;
  std::set<std::string> known;
  for (const Space& part : parts_) {
    std::vector<std::string> here;
    for (const std::string& name : names) {
      const bool is_here =
          std::ranges::any_of(part.constraints(), [&](const Constraint& constraint) {
            return constraint.hardness == Hardness::kSoft && constraint.name == name;
          });
      if (!is_here && name != "all") continue;
      here.push_back(name);
      known.insert(name);
    }
    HONE_ASSIGN(Space space, part.relax(here));
    relaxed.push_back(std::move(space));
  }
  // Report a name that no part has by relaxing any part.
  for (const std::string& name : names)
    if (!known.contains(name)) HONE_TRY(parts_.front().relax({name}));
  return make(knobs_[0].name, knobs_[0].description, std::move(relaxed));
}

}  // namespace hone::space
