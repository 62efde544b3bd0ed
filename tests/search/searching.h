// Searches of a function whose least value is known.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "search/strategy.h"

namespace hone::search {

// Three knobs of `side` values: side^3 configurations.
inline space::Space cube(std::int64_t side) {
  std::vector<space::Value> values;
  for (std::int64_t i = 0; i < side; ++i) values.push_back(i);
  space::SpaceBuilder builder;
  for (const char* name : {"a", "b", "c"}) builder.knob(name, "", values);
  return builder.build().value();
}

// A bowl with its bottom, 1, at (5, 2, 6) where the cube has it.
inline double bowl(const space::Configuration& at) {
  const auto squared = [](std::int64_t x) { return static_cast<double>(x * x); };
  return 1 + squared(at.values[0] - 5) + squared(at.values[1] - 2) + squared(at.values[2] - 6);
}

struct Searched {
  std::size_t tried = 0;
  double best = 1e9;
  std::size_t to_best = 0;  // tried when the best was found
};

// Rounds of eight, until the strategy ends or `most` were tried. Nothing may be proposed twice.
template <class Score>
Searched search(Strategy& strategy, const Score& score, std::size_t most) {
  Searched searched;
  std::set<space::Configuration> seen;
  while (searched.tried < most) {
    const auto proposals = strategy.ask(8);
    if (proposals.empty()) break;
    for (const space::Configuration& each : proposals) {
      EXPECT_TRUE(seen.insert(each).second) << "proposed twice";
      ++searched.tried;
      const double value = score(each);
      strategy.tell(each, value);
      if (value >= searched.best) continue;
      searched.best = value;
      searched.to_best = searched.tried;
    }
  }
  return searched;
}

}  // namespace hone::search
