#include "provider/iree/cpu/knobs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>

namespace hone::iree {

using space::Value;

bool is_used(const TileLevel& level) {
  return std::ranges::any_of(level, [](Value tile) { return tile != 0; });
}

std::string lowering_config_text(
    const std::vector<std::pair<std::string_view, TileLevel>>& levels) {
  std::vector<std::string> texts;
  for (const auto& [name, tiles] : levels)
    if (is_used(tiles)) texts.push_back(fmt::format("{} = [{}]", name, fmt::join(tiles, ", ")));
  return texts.empty() ? std::string()
                       : fmt::format("#iree_cpu.lowering_config<{}>", fmt::join(texts, ", "));
}

Result<TileLevels> lowering_config_levels(std::string_view text) {
  const auto malformed = [&] {
    return input_error(
        "'{}' is not of the form #iree_cpu.lowering_config<level = [tile, ...], "
        "...> with plain sizes",
        text);
  };
  constexpr std::string_view kPrefix = "#iree_cpu.lowering_config<";
  if (!text.starts_with(kPrefix) || !text.ends_with('>')) return malformed();
  std::string_view rest = text.substr(kPrefix.size(), text.size() - kPrefix.size() - 1);
  TileLevels levels;
  while (!rest.empty()) {
    const std::size_t open = rest.find('['), close = rest.find(']');
    const std::size_t equals = rest.find('=');
    if (equals == rest.npos || open == rest.npos || close == rest.npos || equals > open ||
        open > close)
      return malformed();
    const std::size_t begin = rest.find_first_not_of(", \n");
    std::string_view name = rest.substr(begin, rest.find_first_of(" =", begin) - begin);
    TileLevel tiles;
    std::string_view list = rest.substr(open + 1, close - open - 1);
    while (!list.empty()) {
      list.remove_prefix(std::min(list.find_first_not_of(", "), list.size()));
      if (list.empty()) break;
      Value tile = 0;
      const auto [end, error] = std::from_chars(list.data(), list.data() + list.size(), tile);
      if (error != std::errc()) return malformed();
      tiles.push_back(tile);
      list.remove_prefix(static_cast<std::size_t>(end - list.data()));
    }
    levels.emplace(name, std::move(tiles));
    rest.remove_prefix(close + 1);
    if (rest.find_first_not_of(", \n") == rest.npos) break;
  }
  return levels;
}

using space::Value;

Status check_vectors(const problem::CpuTarget& target) {
  if (target.vector_bits >= 64 && target.vector_registers >= 1 && target.cores >= 1) return {};
  return input_error(
      "the target has {}-bit vectors, {} vector registers and {} cores; the llvm-cpu space needs "
      "vectors of 64 bits or more",
      target.vector_bits, target.vector_registers, target.cores);
}

std::string tile_knob(std::string_view level, std::string_view label) {
  return fmt::format("{}_{}", level, label);
}

std::vector<Value> tile_sizes(std::int64_t size) {
  std::set<Value> sizes = {size};
  for (Value divisor = 1; divisor * divisor <= size; ++divisor)
    if (size % divisor == 0) sizes.insert({divisor, size / divisor});
  for (Value power = 1; power < size; power *= 2) {
    sizes.insert(power);
    if (3 * power < size) sizes.insert(3 * power);
  }
  return {sizes.begin(), sizes.end()};
}

space::Expression add_distribution(space::SpaceBuilder& builder, std::string_view label,
                                   std::string_view loop, std::vector<Value> sizes) {
  return builder.knob(tile_knob("dist", label),
                      fmt::format("distribution tile: iterations of {} in one workgroup", loop),
                      std::move(sizes));
}

space::Expression add_peeling(space::SpaceBuilder& builder) {
  return builder.knob("peel",
                      "enable_loop_peeling: code of their own for boundary tiles, instead of masks",
                      {0, 1});
}

std::string translation_info_text(std::string_view pipeline, bool peeled) {
  return fmt::format("#iree_codegen.translation_info<pipeline = #iree_cpu.pipeline<{}>{}>",
                     pipeline, peeled ? fmt::format(", {{{}}}", kPeeling) : "");
}

}  // namespace hone::iree
