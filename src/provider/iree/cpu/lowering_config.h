// The text of IREE's CPU lowering configurations, "#iree_cpu.lowering_config<level = [tiles],
// ...>".
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "space/space.h"

namespace hone::iree {

// Tiles of one level, one per loop; 0 where the level leaves the loop alone.
using TileLevel = std::vector<space::Value>;

using TileLevels = std::map<std::string, TileLevel, std::less<>>;  // by name

// Entry of a translation_info's configuration: peel the last, partial tiles into loops of their
// own.
inline constexpr std::string_view kPeeling = "enable_loop_peeling";

// Whether some loop has a tile.
bool is_used(const TileLevel& level);

// Text of a lowering_config of the used levels, in the given order. The compiler prints
// distribution, cache_parallel, cache_reduction, vector_common_parallel, vector_reduction,
// vector_inner_parallel. Empty if no level is used.
std::string lowering_config_text(const std::vector<std::pair<std::string_view, TileLevel>>& levels);

// Reads the levels of a lowering_config by name. Input error for another attribute and for scalable
// sizes ("[8]").
Result<TileLevels> lowering_config_levels(std::string_view text);

}  // namespace hone::iree
