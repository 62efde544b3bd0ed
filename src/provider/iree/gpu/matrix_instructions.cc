#include "provider/iree/gpu/matrix_instructions.h"

namespace hone::iree {
namespace {

using problem::ElementType;

struct Known {
  std::string_view arch;  // of which names begin so
  ElementType input, output;
  MatrixInstruction instruction;
};

const std::vector<Known>& known() {
  using enum ElementType;
  static const std::vector<Known> kAll = {
      {"sm_", kF16, kF32, {"NV_MMA_SYNC_F32_16x8x16_F16", 16, 8, 16}},
      {"sm_", kF16, kF16, {"NV_MMA_SYNC_F16_16x8x16_F16", 16, 8, 16}},
      {"sm_", kBF16, kF32, {"NV_MMA_SYNC_F32_16x8x16_BF16", 16, 8, 16}},
      {"gfx942", kF16, kF32, {"MFMA_F32_16x16x16_F16", 16, 16, 16}},
      {"gfx942", kF16, kF32, {"MFMA_F32_32x32x8_F16", 32, 32, 8}},
      {"gfx942", kBF16, kF32, {"MFMA_F32_16x16x16_BF16", 16, 16, 16}},
      {"gfx942", kBF16, kF32, {"MFMA_F32_32x32x8_BF16", 32, 32, 8}},
      {"gfx942", kF32, kF32, {"MFMA_F32_16x16x4_F32", 16, 16, 4}},
      {"gfx950", kF16, kF32, {"MFMA_F32_16x16x32_F16", 16, 16, 32}},
      {"gfx950", kF16, kF32, {"MFMA_F32_32x32x16_F16", 32, 32, 16}},
      {"gfx950", kBF16, kF32, {"MFMA_F32_16x16x32_BF16", 16, 16, 32}},
      {"gfx950", kBF16, kF32, {"MFMA_F32_32x32x16_BF16", 32, 32, 16}},
      {"gfx950", kF32, kF32, {"MFMA_F32_16x16x4_F32", 16, 16, 4}},
      {"gfx11", kF16, kF32, {"WMMAR3_F32_16x16x16_F16", 16, 16, 16}},
      {"gfx11", kBF16, kF32, {"WMMAR3_F32_16x16x16_BF16", 16, 16, 16}},
      {"gfx12", kF16, kF32, {"WMMAR4_F32_16x16x16_F16", 16, 16, 16}},
      {"gfx12", kBF16, kF32, {"WMMAR4_F32_16x16x16_BF16", 16, 16, 16}},
  };
  return kAll;
}

}  // namespace

std::vector<MatrixInstruction> matrix_instructions(const problem::GpuTarget& target,
                                                   ElementType input, ElementType output) {
  std::vector<MatrixInstruction> found;
  for (const Known& each : known())
    if (target.compiled_as.starts_with(each.arch) && each.input == input && each.output == output)
      found.push_back(each.instruction);
  return found;
}

}  // namespace hone::iree
