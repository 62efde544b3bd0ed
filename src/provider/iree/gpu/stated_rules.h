// Rules that hone adds to what the compiler states, each for configurations that keep the
// compiler's constraints and that it then fails to compile, or that the device cannot launch.
#pragma once

#include <array>
#include <string_view>

#include "problem/operation.h"
#include "problem/target.h"
#include "provider/iree/gpu/stated_space.h"
#include "space/space.h"

namespace hone::iree {

// VectorDistribute copies each tile of an input to shared memory with all threads of the workgroup,
// 128 bits each along rows; the threads must fit rows and columns without a rest. IREE otherwise
// fails with "failed to derive layout for promoted read-like op" (getDerivedThreadLayout in
// GPUNestedLayoutUtils.cpp and getVectorTileSizesFromLoopRanges in DerivedConfigUtils.cpp).
inline constexpr std::string_view kCopyLayoutRule = "threads cover the copied tile";
// Shared memory of the device where the compiler's table says more: 99 KiB of sm_86 and not 163.
inline constexpr std::string_view kDeviceMemoryRule = "shared memory of the device";
// TileAndFuse pads an output whose tiles its matrix instruction does not divide, and keeps the
// padded tile in shared memory, which the compiler's sum leaves out ("uses N bytes of shared
// memory; exceeded the limit").
inline constexpr std::string_view kPaddedOutputRule = "padded output in shared memory";
// Attention has the tiles of Q, K and V and the scores in shared memory at once; where two layouts
// agree the compiler counts only half of scores and V.
inline constexpr std::string_view kAttentionMemoryRule = "tiles of attention in shared memory";
// The first product of attention has the step along K2 as its columns, which must be whole matrix
// instructions ("tile size analysis did not determine a valid tile size").
inline constexpr std::string_view kScoresRule = "scores are whole instructions";
// The implicit form of a convolution folds loops together and cannot pad one of them
// ("'tensor.expand_shape' op expected dimension").
inline constexpr std::string_view kImplicitGemmRule = "no padding in an implicit GEMM";

// Of a convolution with channels first, on NVIDIA, the direct form gives wrong results (sm_80, f16:
// half of the elements, in all of 167 configurations of nine convolutions of SDXL's UNet on two
// GPUs; of 235 of the implicit form none).
inline constexpr std::string_view kChannelsFirstFormRule = "channels first: implicit form";
// The implicit form of a convolution with channels first, on NVIDIA: LLVM aborts where a workgroup
// has 8 or 40 columns ("Cannot select: v2i16,v2i16 = umul_lohi"; 8 of 8 tried, none of 29 others).
inline constexpr std::string_view kChannelsFirstColumnsRule = "channels first: 16 columns";
// In the same form the compiler fails if the number of threads is no power of two ("op was not
// bufferized"; 3 of 3 tried with 1280 channels; with 640 many compile, none as fast as the winner).
inline constexpr std::string_view kChannelsFirstThreadsRule = "channels first: threads";
// In the same form the result's tile lies in shared memory, which the compiler's sum leaves out, if
// one subgroup has all columns of the workgroup's tile (640 channels: 4 of 4 that would not fit did
// not compile; 9 of 9 with several subgroups along the columns did).
inline constexpr std::string_view kChannelsFirstMemoryRule =
    "channels first: result in shared memory";

// A soft one: threads keep the workgroup's tile of the output in registers while it is summed up,
// and a step's operands pass through registers on their way from global to shared memory. What does
// not fit is spilled to memory in every step; such code also compiles for many times as long, since
// all of it is unrolled (docs/studies/hard-rules.md).
inline constexpr std::string_view kRegisterRule = "sums and operands fit in registers";

// The names of the hard ones.
inline constexpr std::array<std::string_view, 10> kOwnRules = {kCopyLayoutRule,
                                                               kDeviceMemoryRule,
                                                               kPaddedOutputRule,
                                                               kAttentionMemoryRule,
                                                               kScoresRule,
                                                               kImplicitGemmRule,
                                                               kChannelsFirstFormRule,
                                                               kChannelsFirstColumnsRule,
                                                               kChannelsFirstThreadsRule,
                                                               kChannelsFirstMemoryRule};

// Adds the rules that apply to `set`, stated for `root` on `target`, to a builder of
// space_builder(set).
void add_own_rules(const StatedSet& set, const problem::Operation& root,
                   const problem::GpuTarget& target, space::SpaceBuilder& builder);

}  // namespace hone::iree
