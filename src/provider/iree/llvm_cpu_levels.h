// The tiling levels of "#iree_cpu.lowering_config<level = [tile, ...], ...>" as text (IREE 3.13).
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "space/space.h"

namespace hone::iree {

// Tiles of one level, one per loop, in iterations; 0 where the level leaves the loop alone.
using Level = std::vector<space::Value>;
using Levels = std::map<std::string, Level, std::less<>>;

// "distribution = [1, 2, 3]".
std::string level_text(std::string_view name, const Level& tiles);
// Whether it tiles any loop.
bool is_used(const Level& level);

// The levels of a lowering_config by name. Input error for text of another form, scalable tiles
// among them.
Result<Levels> read_levels(std::string_view lowering_config);
// Removes a level and gives it with `loops` tiles; all 0 where `levels` lacks it.
Level take_level(Levels& levels, std::string_view name, std::size_t loops);

}  // namespace hone::iree
