// Rules that hone adds to what the compiler states, each for configurations that keep the
// compiler's constraints and that it then fails to compile, or that the device cannot launch.
#pragma once

#include <string_view>

#include "problem/operation.h"
#include "problem/target.h"
#include "provider/iree/stated_space.h"
#include "space/space.h"

namespace hone::iree {

// VectorDistribute copies each tile of an input to shared memory with all threads of the workgroup,
// 128 bits each along rows; the threads must fit rows and columns without a rest. IREE otherwise
// fails with "failed to derive layout for promoted read-like op" (getDerivedThreadLayout in
// GPUNestedLayoutUtils.cpp and getVectorTileSizesFromLoopRanges in DerivedConfigUtils.cpp).
inline constexpr std::string_view kCopyLayoutRule = "threads cover the copied tile";
// Shared memory of the device where the compiler's table says more: 99 KiB of sm_86 and not 163.
inline constexpr std::string_view kDeviceMemoryRule = "shared memory of the device";

// Adds the rules that apply to `set`, stated for `root` on `target`, to a builder of
// space_builder(set).
void add_own_rules(const StatedSet& set, const problem::Operation& root,
                   const problem::GpuTarget& target, space::SpaceBuilder& builder);

}  // namespace hone::iree
