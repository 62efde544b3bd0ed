// Building blocks of the spaces of the llvm-cpu backend: common knobs, the text of the lowering
// configurations that they become, the relaxation of soft rules and the audit of hard ones.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "problem/target.h"
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

// Text of a lowering_config ("#iree_cpu.lowering_config<level = [tiles], ...>") of the used levels,
// in the given order. The compiler prints distribution, cache_parallel, cache_reduction,
// vector_common_parallel, vector_reduction, vector_inner_parallel. Empty if no level is used.
std::string lowering_config_text(const std::vector<std::pair<std::string_view, TileLevel>>& levels);

// Reads the levels of a lowering_config by name. Input error for another attribute and for scalable
// sizes ("[8]").
Result<TileLevels> lowering_config_levels(std::string_view text);

// Input error for a target without vectors of 64 bits, vector registers or cores.
Status check_vectors(const problem::CpuTarget& target);

// A knob's name: tile_knob("vec", "m") is "vec_m".
std::string tile_knob(std::string_view level, std::string_view label);

// The tile sizes offered for a loop of `size` iterations, ascending: its divisors and all 2^i and
// 3*2^i below it.
std::vector<space::Value> tile_sizes(std::int64_t size);

// Adds the knob dist_LABEL: the iterations of `loop`, a loop's name in words, that one workgroup
// computes.
space::Expression add_distribution(space::SpaceBuilder& builder, std::string_view label,
                                   std::string_view loop, std::vector<space::Value> sizes);
// Adds the knob peel, 1: enable_loop_peeling, boundary tiles get code of their own; 0: they are
// masked.
space::Expression add_peeling(space::SpaceBuilder& builder);

// "#iree_codegen.translation_info<...>" of one of the compiler's pipelines, "DoubleTilingExpert".
std::string translation_info_text(std::string_view pipeline, bool peeled);

// Audits a hard rule by the configurations just outside of it (hone space --audit-rule). Builds the
// space of configurations that break the hard rule `rule` and keep all other hard rules. Soft rules
// hold too, as far as some configuration then breaks `rule`. Otherwise rules are dropped in the
// order `relaxation_order`, and only those that must go. Empty if no values of the knobs break this
// rule alone. Errors: SpaceBuilder::build's; an input error that lists the hard rules if none has
// this name.
Result<space::Space> space_outside(std::string_view rule, space::SpaceBuilder builder,
                                   std::span<const std::string_view> relaxation_order);

// Builds the space that `builder` states and relaxes it (relaxed_to_searchable). With `audited`,
// the name of one of its hard rules, returns the configurations that break this rule alone
// (space_outside). Errors: SpaceBuilder::build's, space_outside's.
Result<space::Space> searchable_space(space::SpaceBuilder builder,
                                      std::span<const std::string_view> relaxation_order,
                                      std::string_view audited);

}  // namespace hone::iree
