// Knobs and rules that hone adds to the compiler's constraints.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "problem/operation.h"
#include "problem/target.h"
#include "provider/iree/compiler/ir.h"
#include "provider/iree/gpu/stated_space.h"
#include "space/space.h"

namespace hone::iree {

// Knobs that hone adds to the compiler's space for AMD. The compiler's statement omits them, but
// its translation_info takes them:
//
//   waves_per_eu       waves of a SIMD that LLVM is to leave registers for; 0: its own choice
//                      ("amdgpu-waves-per-eu", LLVM's AMDGPUUsage)
//   pad_shared_memory  1: rows of shared memory are padded against bank conflicts; 0: they are not,
//                      and take less (no_reduce_shared_memory_bank_conflicts)
//   flush_denormals    1: subnormal f32 become zeros, which takes fewer instructions for functions
//                      such as exp (denormal_fp_math_f32); 0: as the compiler has it
//
// A soft rule for each keeps the compiler's own behaviour, because hone has no measurements of
// them. `--relax` drops the rules.
inline constexpr std::string_view kWavesKnob = "waves_per_eu";
inline constexpr std::string_view kPaddingKnob = "pad_shared_memory";
inline constexpr std::string_view kDenormalsKnob = "flush_denormals";
bool is_own_knob(std::string_view name);

// Adds the target's own knobs to a builder of space_builder(set).
void add_own_knobs(const problem::GpuTarget& target, space::SpaceBuilder& builder);

// Puts the values of hone's own knobs into `translation`, a translation_info that the compiler
// made. Returns `translation` itself for the compiler's own values of all knobs; a null handle if
// the result does not parse.
MlirAttribute with_own_knobs(const Ir& ir, MlirContext context, MlirAttribute translation,
                             const std::map<std::string, std::int64_t>& values);

// Rules that hone adds to the compiler's constraints. Each excludes configurations that keep those
// constraints but that the compiler then fails to compile, or that the device cannot launch.

// VectorDistribute copies each tile of an input to shared memory with all threads of the workgroup,
// 128 bits each along rows; the threads must fit rows and columns without a rest. IREE otherwise
// fails with "failed to derive layout for promoted read-like op" (getDerivedThreadLayout in
// GPUNestedLayoutUtils.cpp and getVectorTileSizesFromLoopRanges in DerivedConfigUtils.cpp).
inline constexpr std::string_view kCopyLayoutRule = "threads cover the copied tile";
// Shared memory of the device, if the compiler's table says more: sm_86 has 99 KiB, not 163.
inline constexpr std::string_view kDeviceMemoryRule = "shared memory of the device";
// TileAndFuse pads an output whose tiles its matrix instruction does not divide, and keeps the
// padded tile in shared memory, which the compiler's sum leaves out ("uses N bytes of shared
// memory; exceeded the limit").
inline constexpr std::string_view kPaddedOutputRule = "padded output in shared memory";
// Attention keeps the tiles of Q, K and V and the scores in shared memory at once. If two layouts
// agree, the compiler counts only half of the scores and V.
inline constexpr std::string_view kAttentionMemoryRule = "tiles of attention in shared memory";
// The columns of attention's first product are the step along K2, which must be whole matrix
// instructions ("tile size analysis did not determine a valid tile size").
inline constexpr std::string_view kScoresRule = "scores are whole instructions";
// The implicit form of a convolution folds loops together and cannot pad one of them
// ("'tensor.expand_shape' op expected dimension").
inline constexpr std::string_view kImplicitGemmRule = "no padding in an implicit GEMM";

// The direct form of a convolution with channels first gives wrong results on NVIDIA. Measured on
// sm_80 with f16: half of the elements, in all of 167 configurations of nine convolutions of SDXL's
// UNet on two GPUs; of 235 configurations of the implicit form, none.
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

// A soft rule. Threads keep the workgroup's tile of the output in registers while they sum it up. A
// step's operands pass through registers from global to shared memory. Excess data spills to memory
// in every step. Such code is fully unrolled, so it also takes many times as long to compile
// (docs/studies/hard-rules.md).
inline constexpr std::string_view kRegisterRule = "sums and operands fit in registers";

// The names of the hard rules.
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
