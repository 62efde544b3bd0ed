// The compiler's own choice of tiles as a configuration of hone's CPU spaces.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "problem/dispatch.h"
#include "provider/iree/cpu/space.h"
#include "space/configuration.h"

namespace hone::iree {

// What the dispatch's default states in the knobs dist_x, vec_x, red_x, inner_x, peel and
// decompose, x being a loop's label. IREE clips a tile that is larger than what it tiles, and 0
// leaves that whole; inner_x, which the root's configuration does not say, is red_x; peeling
// changes nothing where nothing is left over. Throws where the space has no such knob or value.
inline space::Configuration stated_configuration(const problem::Dispatch& dispatch,
                                                 const std::vector<std::string>& labels,
                                                 const space::Space& space) {
  const TileLevels levels = lowering_config_levels(dispatch.default_configuration).value();
  for (const auto& [name, level] : levels)
    if (is_used(level) && name != "distribution" && name != "vector_common_parallel" &&
        name != "vector_reduction")
      throw std::runtime_error("no knob is for the level " + name);
  const auto clipped = [&](const char* level, std::size_t loop, space::Value extent) {
    const auto found = levels.find(level);
    const space::Value tile =
        found != levels.end() && loop < found->second.size() ? found->second[loop] : 0;
    return tile == 0 || tile > extent ? extent : tile;
  };
  std::map<std::string, space::Value> values;
  bool left_over = false;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const problem::Loop& loop = dispatch.root.loops[i];
    if (loop.reduction) {
      const space::Value steps = clipped("vector_reduction", i, loop.size);
      values["red_" + labels[i]] = values["inner_" + labels[i]] = steps;
      left_over |= loop.size % steps != 0;
    } else {
      const space::Value outer = clipped("distribution", i, loop.size);
      const space::Value inner = clipped("vector_common_parallel", i, outer);
      values["dist_" + labels[i]] = outer;
      values["vec_" + labels[i]] = inner;
      left_over |= loop.size % outer != 0 || outer % inner != 0;
      if (!space.knob_index("vec_" + labels[i]) && inner != 1)
        throw std::runtime_error("the space has no vectors along " + labels[i]);
    }
  }
  const std::string& translation = dispatch.default_translation;
  values["peel"] = left_over && translation.find(kPeeling) != translation.npos ? 1 : 0;
  values["decompose"] = translation.find("ConvTileAndDecomposeExpert") != translation.npos ? 1 : 0;
  std::vector<std::string> words;
  for (const space::Knob& knob : space.knobs())
    words.push_back(fmt::format("{}={}", knob.name, values.at(knob.name)));
  auto configuration = space::parse_configuration(space, fmt::format("{}", fmt::join(words, ",")));
  if (!configuration) throw std::runtime_error(configuration.error().message);
  return std::move(*configuration);
}

}  // namespace hone::iree
