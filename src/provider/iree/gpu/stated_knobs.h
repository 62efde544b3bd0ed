// Knobs that hone adds to the compiler's space for AMD. The compiler's statement omits them, but
// its translation_info takes them:
//
//   waves_per_eu       waves of a SIMD that LLVM is to leave registers for; 0: its own choice
//                      ("amdgpu-waves-per-eu", LLVM's AMDGPUUsage)
//   pad_shared_memory  1: rows of shared memory are padded against bank conflicts; 0: they are not,
//                      and take less (no_reduce_shared_memory_bank_conflicts)
//
// A soft rule for each keeps the compiler's own behaviour, because hone has no measurements of
// them. `--relax` drops the rules.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "problem/target.h"
#include "provider/iree/compiler/ir.h"
#include "space/space.h"

namespace hone::iree {

inline constexpr std::string_view kWavesKnob = "waves_per_eu";
inline constexpr std::string_view kPaddingKnob = "pad_shared_memory";
bool is_own_knob(std::string_view name);

// Adds the target's own knobs to a builder of space_builder(set).
void add_own_knobs(const problem::GpuTarget& target, space::SpaceBuilder& builder);

// Puts the values of hone's own knobs into `translation`, a translation_info that the compiler
// made. Returns `translation` itself for the compiler's own values of all knobs; a null handle if
// the result does not parse.
MlirAttribute with_own_knobs(const Ir& ir, MlirContext context, MlirAttribute translation,
                             const std::map<std::string, std::int64_t>& values);

}  // namespace hone::iree
