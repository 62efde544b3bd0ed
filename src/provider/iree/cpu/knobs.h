// The knobs that all spaces of the llvm-cpu backend have in common: tiles of loops, and peeling.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "problem/target.h"
#include "space/space.h"

namespace hone::iree {

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

}  // namespace hone::iree
