// What is asked of lists and maps again and again.
#pragma once

#include <algorithm>
#include <functional>
#include <ranges>
#include <type_traits>
#include <vector>

namespace hone {

// What `get`, a member or a function, makes of each.
template <class Range, class Get>
auto mapped(Range&& range, Get get) {
  using Value = std::decay_t<std::invoke_result_t<Get&, std::ranges::range_reference_t<Range>>>;
  std::vector<Value> values;
  for (auto&& each : range) values.push_back(std::invoke(get, each));
  return values;
}

// The first whose `get` is that; null where none is.
template <class Range, class Wanted, class Get>
auto* find_by(Range& range, const Wanted& wanted, Get get) {
  const auto found = std::ranges::find(range, wanted, get);
  return found == std::ranges::end(range) ? nullptr : &*found;
}

// What the map has for the key; null where it has nothing.
template <class Map, class Key>
auto* value_at(Map& map, const Key& key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

}  // namespace hone
