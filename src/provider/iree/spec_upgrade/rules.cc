#include "provider/iree/spec_upgrade/rules.h"

#include <fmt/format.h>

#include <algorithm>

namespace hone::iree {
namespace {

using Rule = UpgradeRule;

constexpr UpgradeChange kChanges[] = {
    {Rule::kMatrixLayoutName, "mfma_layout<F16_...>", "mma_layout<MFMA_F16_...>", "2c88e49d18",
     "2024-04-02"},
    {Rule::kTileCounts, "subgroup_m_tile_count", "of the tile sizes", "313c4d7922", "2024-04-29"},
    {Rule::kFunctionAttributes, "amdgpu-waves-per-eu = 2", "llvm_func_attrs", "4f27e64a7b",
     "2024-05-13"},
    {Rule::kNoReordering, "no_reorder_workgroups", "strategy None", "dc10693a5a", "2024-06-13"},
    {Rule::kReorderingOfABranch, "workgroup_reorder", "reorder_workgroups_strategy", "baf999798e",
     "2024-07-11"},
    {Rule::kIntrinsicOrder, "MFMA_F16_16x16x16_F32", "MFMA_F32_16x16x16_F16", "82012e69ef",
     "2024-08-06"},
    {Rule::kReorderingByName, "reorder_workgroups", "reorder_workgroups_strategy", "15d58e74ca",
     "2024-09-10"},
    {Rule::kPipelineOptions, "options in the dictionary", "gpu_pipeline_options", "15d58e74ca",
     "2024-09-10"},
    {Rule::kTileSizes, "tile_sizes", "workgroup, reduction", "ff1b8b0e43", "2024-09-27"},
    {Rule::kAttentionScript, "script of an attention", "its configuration", "dd3f2a3928",
     "2024-10-10"},
    {Rule::kMatrixKind, "mma_schedule", "mma_kind", "a5537bc683", "2024-11-04"},
    {Rule::kVirtualIntrinsic, "mma_layout<VMFMA_...>", "virtual_mma_layout", "f42b90d23c",
     "2024-11-07"},
    {Rule::kWorkgroupSize, "workgroup_size of the entry", "of its translation_info", "954cb36d82",
     "2024-04-12"},
    {Rule::kReorderingInBrackets, "= Transpose", "= <Transpose>", "fb18c42422", "2024-10-17"},
    {Rule::kEntryPoint, "@__kernel_config of no result", "tuning_spec_entrypoint", "e553425650",
     "2024-12-18"},
    {Rule::kIntrinsicGeneration, "WMMA_F32_16x16x16_F16", "WMMAR3_F32_16x16x16_F16", "2843f77c4e",
     "2025-02-24"},
    {Rule::kTransposedProducts, "matmul_transpose_b", "matmul of indexing maps", "3df06b73d1",
     "2025-08-16"},
    {Rule::kGeneralizedConvolutions, "match of a named convolution", "match.convolution",
     "27a170bc7c", "2025-04-01"},
    {Rule::kVirtualIntrinsicKey, "<intrinsic = VMFMA_...>", "<VMFMA_...>", "3bd6855321",
     "2025-07-31"},
    {Rule::kGeneralizedProducts, "match of a named product", "match.contraction", "2c378d0fec",
     "2025-08-21"},
    {Rule::kRepeatedWork, "subgroups that repeat work", "fewer threads", "5723e7ea78",
     "2025-09-08"},
    {Rule::kSubgroupBasis, "subgroup_m_count", "subgroup_basis", "a75d956122", "2025-09-17"},
    {Rule::kMatcherKeywords, "match {indexing_maps}", "match indexing_maps", "afe01bda52",
     "2025-10-09"},
    {Rule::kInnerTiled, "inner_tiled {kind}", "inner_tiled <{kind, semantics}>", "34379e615e",
     "2025-10-27"},
    {Rule::kPrefetchStages, "prefetch_shared_memory", "prefetch_num_stages", "f7e02804d1",
     "2025-12-04"},
    {Rule::kColumnMajor, "attention_qk_matmul", "col_major", "1ea0b668e5", "2026-03-04"},
    {Rule::kPaddedPipeline, "LLVMGPUPadAndVectorDistribute", "masks of VectorDistribute",
     "409bccaf06", "2026-03-24"},
    {Rule::kPipelineAttribute, "LLVMGPUVectorDistribute", "#iree_gpu.pipeline<...>", "f69c15c35d",
     "2026-03-18"},
    {Rule::kOnlineAttention, "attention", "online_attention", "9ed4a4ec7e", "2026-04-16"},
    {Rule::kStrictProperties, "{name = ...}", "<{name = ...}>", "MLIR", "2026"},
    {Rule::kBenchmark, "benchmark of a dispatch", "its program", "-", "any date"},
    {Rule::kMultiMma, "iree_gpu.multi_mma", "iree_codegen.inner_tiled", "7e54ffcba8", "2025-06-13"},
    {Rule::kFilledType, "linalg.fill that casts", "a cast before it", "MLIR", "2026"},
    {Rule::kBarrierMask, "sched.barrier 0", "sched.barrier none", "MLIR", "2026"},
};

struct OldName {
  std::string_view old, name;
  Rule rule;
};
constexpr OldName kNames[] = {
    {"#iree_gpu.mfma_layout", "#iree_gpu.mma_layout", Rule::kMatrixLayoutName},
    {"F16_16x16x16_F32", "MFMA_F32_16x16x16_F16", Rule::kIntrinsicOrder},
    {"F16_32x32x8_F32", "MFMA_F32_32x32x8_F16", Rule::kIntrinsicOrder},
    {"MFMA_F16_16x16x16_F32", "MFMA_F32_16x16x16_F16", Rule::kIntrinsicOrder},
    {"MFMA_F16_32x32x8_F32", "MFMA_F32_32x32x8_F16", Rule::kIntrinsicOrder},
    {"MFMA_F8E4M3FNUZ_16x16x32_F32", "MFMA_F32_16x16x32_F8E4M3FNUZ", Rule::kIntrinsicOrder},
    {"MFMA_F8E4M3FNUZ_32x32x16_F32", "MFMA_F32_32x32x16_F8E4M3FNUZ", Rule::kIntrinsicOrder},
    {"MFMA_I8_16x16x32_I32", "MFMA_I32_16x16x32_I8", Rule::kIntrinsicOrder},
    {"MFMA_I8_32x32x16_I32", "MFMA_I32_32x32x16_I8", Rule::kIntrinsicOrder},
    {"WMMA_F16_16x16x16_F32", "WMMAR3_F32_16x16x16_F16", Rule::kIntrinsicOrder},
    {"WMMA_F32_16x16x16_F16", "WMMAR3_F32_16x16x16_F16", Rule::kIntrinsicGeneration},
    {"WMMA_F16_16x16x16_F16", "WMMAR3_F16_16x16x16_F16", Rule::kIntrinsicGeneration},
    {"WMMA_F32_16x16x16_BF16", "WMMAR3_F32_16x16x16_BF16", Rule::kIntrinsicGeneration},
    {"WMMA_BF16_16x16x16_BF16", "WMMAR3_BF16_16x16x16_BF16", Rule::kIntrinsicGeneration},
    {"WMMA_I32_16x16x16_I8", "WMMAR3_I32_16x16x16_I8", Rule::kIntrinsicGeneration},
};

struct Pipeline {
  std::string_view old, attribute;
};
constexpr Pipeline kPipelines[] = {
    {"LLVMGPUDefault", "#iree_gpu.pipeline<Default>"},
    {"LLVMGPUBaseLowering", "#iree_gpu.pipeline<BaseLowering>"},
    {"LLVMGPUDistribute", "#iree_gpu.pipeline<Distribute>"},
    {"LLVMGPUVectorize", "#iree_gpu.pipeline<Vectorize>"},
    {"LLVMGPUVectorDistribute", "#iree_gpu.pipeline<VectorDistribute>"},
    {"LLVMGPUWinogradVectorize", "#iree_gpu.pipeline<WinogradVectorize>"},
    {"LLVMGPUTileAndFuse", "#iree_gpu.pipeline<TileAndFuse>"},
    {"SPIRVBaseLowering", "#iree_gpu.spirv_pipeline<BaseLowering>"},
    {"SPIRVBaseDistribute", "#iree_gpu.spirv_pipeline<BaseDistribute>"},
    {"SPIRVBaseVectorize", "#iree_gpu.spirv_pipeline<BaseVectorize>"},
    {"SPIRVSubgroupReduce", "#iree_gpu.spirv_pipeline<SubgroupReduce>"},
    {"SPIRVMatmulPromoteVectorize", "#iree_gpu.spirv_pipeline<MatmulPromoteVectorize>"},
    {"SPIRVCooperativeMatrixVectorize", "#iree_gpu.spirv_pipeline<CooperativeMatrixVectorize>"},
    {"SPIRVWinogradVectorize", "#iree_gpu.spirv_pipeline<WinogradVectorize>"},
    {"CPUDefault", "#iree_cpu.pipeline<Default>"},
    {"CPUDoubleTilingExpert", "#iree_cpu.pipeline<DoubleTilingExpert>"},
    {"CPUConvTileAndDecomposeExpert", "#iree_cpu.pipeline<ConvTileAndDecomposeExpert>"},
    {"Mmt4dTilingExpert", "#iree_cpu.pipeline<Mmt4dTilingExpert>"},
    {"CPUBufferOpsTileAndVectorize", "#iree_cpu.pipeline<BufferOpsTileAndVectorize>"},
    {"CPUDataTiling", "#iree_cpu.pipeline<DataTiling>"},
    {"CPULinalgExtTileAndVectorize", "#iree_cpu.pipeline<LinalgExtTileAndVectorize>"},
    {"VMVXDefault", "#iree_codegen.vmvx_pipeline"},
    {"TransformDialectCodegen", "#iree_codegen.transform_dialect_codegen"},
    {"None", "#iree_codegen.no_pipeline"},
};

struct Lost {
  std::string_view name;
  const char *commit, *date;
};
constexpr Lost kLost[] = {
    {"LLVMGPUWarpReduction", "960809fe38", "2025-09-03"},
    {"LLVMGPUMatmulTensorCore", "1c0dfca88b", "2025-08-28"},
    {"LLVMGPUMatmulTensorCoreMmaSync", "1c0dfca88b", "2025-08-28"},
    {"LLVMGPUTransposeSharedMem", "a6f8dfeefc", "2025-12-03"},
    {"transform.iree.tile_attention", "dd3f2a3928", "2024-10-10"},
    {"transform.iree.decompose_tiled_attention", "dd3f2a3928", "2024-10-10"},
    {"transform.iree.set_contraction_layout_attributes", "65837628fd", "2024-11-21"},
};

constexpr std::string_view kStrict[] = {"transform.get_parent_op", "transform.match.structured.dim",
                                        "transform.iree.bufferize", "iree_linalg_ext.attention"};

constexpr std::string_view kReadsResults[] = {
    "MFMA_F32_16x16x16_F16", "MFMA_F32_32x32x8_F16",          "MFMA_F32_16x16x16_BF16",
    "MFMA_F32_32x32x8_BF16", "VMFMA_F32_16x16x32_F8E4M3FNUZ", "VMFMA_F32_32x32x16_F8E4M3FNUZ"};

}  // namespace

const UpgradeChange& change_of(UpgradeRule rule) {
  return *std::ranges::find(kChanges, rule, &UpgradeChange::rule);
}

std::string to_text(UpgradeRule rule) {
  const UpgradeChange& change = change_of(rule);
  return fmt::format("{} -> {} ({})", change.before, change.after, change.date);
}

std::optional<Renamed> renamed(std::string_view old) {
  const auto* const found = std::ranges::find(kNames, old, &OldName::old);
  if (found == std::ranges::end(kNames)) return std::nullopt;
  return Renamed{found->name, found->rule};
}

std::string pipeline_attribute(std::string_view old) {
  const auto* const found = std::ranges::find(kPipelines, old, &Pipeline::old);
  return found != std::ranges::end(kPipelines) ? std::string(found->attribute) : "";
}

std::string lost(std::string_view name) {
  const auto* const found = std::ranges::find(kLost, name, &Lost::name);
  if (found == std::ranges::end(kLost)) return "";
  return fmt::format("{} was removed (IREE {}, {})", name, found->commit, found->date);
}

bool has_strict_properties(std::string_view operation) {
  return std::ranges::find(kStrict, operation) != std::ranges::end(kStrict);
}

bool reads_results_as_b(std::string_view intrinsic) {
  return std::ranges::find(kReadsResults, intrinsic) != std::ranges::end(kReadsResults);
}

}  // namespace hone::iree
