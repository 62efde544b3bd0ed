// Functions of ranges and maps: transform, find, look up.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <functional>
#include <ranges>
#include <type_traits>
#include <vector>

namespace hone {

// Returns a number as an index or a size. A negative one becomes larger than any.
constexpr std::size_t to_index(std::integral auto number) {
  return static_cast<std::size_t>(number);
}

// Returns the results of `get`, a member or a function, for all elements.
template <class Range, class Get>
auto mapped(Range&& range, Get get) {
  using Value = std::decay_t<std::invoke_result_t<Get&, std::ranges::range_reference_t<Range>>>;
  std::vector<Value> values;
  for (auto&& each : range) values.push_back(std::invoke(get, each));
  return values;
}

// Returns the first element whose `get` equals `wanted`; null if there is none.
template <class Range, class Wanted, class Get>
auto* find_by(Range& range, const Wanted& wanted, Get get) {
  const auto found = std::ranges::find(range, wanted, get);
  return found == std::ranges::end(range) ? nullptr : &*found;
}

// Returns the map's value for `key`; null if the key is absent.
template <class Map, class Key>
auto* value_at(Map& map, const Key& key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

}  // namespace hone
