// The changes of IREE's tuning specs since 2024, as data. Each has the commit of iree-org/iree that
// made it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hone::iree {

enum class UpgradeRule {
  kMatrixLayoutName,
  kIntrinsicOrder,
  kIntrinsicGeneration,
  kVirtualIntrinsic,
  kVirtualIntrinsicKey,
  kTileCounts,
  kTileSizes,
  kMatrixKind,
  kRepeatedWork,
  kSubgroupBasis,
  kWorkgroupSize,
  kFunctionAttributes,
  kNoReordering,
  kReorderingByName,
  kPipelineOptions,
  kReorderingInBrackets,
  kPrefetchStages,
  kPipelineAttribute,
  kEntryPoint,
  kOnlineAttention,
  kColumnMajor,
  kTransposedProducts,
  kMatcherKeywords,
  kStrictProperties,
  kBarrierMask,
  kAttentionScript,
  kInnerTiled,
  kFilledType,
  kGeneralizedProducts,
  kGeneralizedConvolutions,
  kBenchmark,
  kPaddedPipeline,
  kReorderingOfABranch,
  kMultiMma,
};

struct UpgradeChange {
  UpgradeRule rule;
  const char* before;
  const char* after;
  const char* commit;
  const char* date;  // of the commit
};

// "tile_sizes -> workgroup, reduction (2024-09-27)": a row's change for people.
std::string to_text(UpgradeRule rule);
const UpgradeChange& change_of(UpgradeRule rule);

// A name that is called otherwise today.
struct Renamed {
  std::string_view name;  // today's
  UpgradeRule rule;
};
// Attributes and intrinsics: "mfma_layout", "MFMA_F16_16x16x16_F32".
std::optional<Renamed> renamed(std::string_view old);

// Pipelines of translation_info: "LLVMGPUVectorDistribute" is
// "#iree_gpu.pipeline<VectorDistribute>" today; "" for an unknown name.
std::string pipeline_attribute(std::string_view old);

// Why today's compiler has no successor of a pipeline or an operation: "... was removed (IREE
// 1cbcb4e2f7, 2025-06-13)". Empty if it has one, or the name is unknown.
std::string lost(std::string_view name);

// Operations whose inherent attributes stood in the attribute dictionary: "{" is "<{" today.
bool has_strict_properties(std::string_view operation);

// Products by matrix instructions whose B operand has the layout of the result of a product of the
// same shape. The compiler of 2024 and 2025 then transposed both products of an attention.
bool reads_results_as_b(std::string_view intrinsic);

}  // namespace hone::iree
