// Specs in the syntax of older compilers, for tests: own entries, no copies of files.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

namespace hone::iree {

// Matches products f16 x f16 -> f32 of transposed weights, 2048 x 1280 x 1280, as specs of 2024
// did: the operation in a sequence that others include, and the sizes by the operands' types.
inline constexpr char kTransposedProduct[] = R"(
  transform.named_sequence @match_transposed(%root: !transform.any_op {transform.readonly}) -> (!transform.any_op) {
    transform.match.operation_name %root ["linalg.generic"] : !transform.any_op
    %ins, %outs = transform.iree.match.cast_compatible_dag_from_root %root {
      ^bb0(%lhs: tensor<?x?xf16>, %rhs: tensor<?x?xf16>, %out: tensor<?x?xf32>):
      %7 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>,
                                            affine_map<(d0, d1, d2) -> (d1, d2)>,
                                            affine_map<(d0, d1, d2) -> (d0, d1)>],
                           iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%lhs, %rhs : tensor<?x?xf16>, tensor<?x?xf16>) outs(%out : tensor<?x?xf32>) {
        ^bb0(%in: f16, %in_0: f16, %acc: f32):
          %8 = arith.extf %in : f16 to f32
          %9 = arith.extf %in_0 : f16 to f32
          %10 = arith.mulf %8, %9 : f32
          %11 = arith.addf %acc, %10 : f32
          linalg.yield %11 : f32
        } -> tensor<?x?xf32>
    } : (!transform.any_op) -> (!transform.any_value, !transform.any_value)
    transform.yield %root : !transform.any_op
  }
)";

// A matcher of 2048 x 1280 x 1280 with `configuration`, the text behind param.constant.
inline std::string product_entry(const std::string& symbol, const std::string& configuration) {
  return fmt::format(R"(
  transform.named_sequence @{}(%matmul: !transform.any_op {{transform.readonly}}) -> (!transform.any_op, !transform.any_param) {{
    %mmt = transform.include @match_transposed failures(propagate) (%matmul) : (!transform.any_op) -> !transform.any_op
    %lhs = transform.get_operand %matmul[0] : (!transform.any_op) -> !transform.any_value
    %rhs = transform.get_operand %matmul[1] : (!transform.any_op) -> !transform.any_value
    transform.iree.match.cast_compatible_type %lhs = tensor<2048x1280xf16> : !transform.any_value
    transform.iree.match.cast_compatible_type %rhs = tensor<1280x1280xf16> : !transform.any_value
    %config = transform.param.constant {} -> !transform.any_param
    transform.yield %matmul, %config : !transform.any_op, !transform.any_param
  }}
)",
                     symbol, configuration);
}

inline constexpr char kApply[] = R"(
  transform.named_sequence @apply_op_config(%op: !transform.any_op {transform.readonly}, %config: !transform.any_param {transform.readonly}) {
    transform.annotate %op "compilation_info" = %config : !transform.any_op, !transform.any_param
    transform.yield
  }
)";

// A spec of 2024: its entry point has no result. `pairs` are "@matcher -> @action".
inline std::string old_spec(const std::string& sequences, const std::vector<std::string>& pairs) {
  return fmt::format(R"(module attributes {{ transform.with_named_sequence }} {{
{}{}
  transform.named_sequence @__kernel_config(%variant_op: !transform.any_op {{transform.consumed}}) {{
    transform.foreach_match in %variant_op
        {}
      : (!transform.any_op) -> (!transform.any_op)
    transform.yield
  }}
}}
)",
                     kApply, sequences, fmt::join(pairs, ",\n        "));
}

// April 2024: the intrinsic's old name, tile counts, workgroup_size outside the translation_info.
inline constexpr char kProductOfApril[] = R"(#iree_codegen.compilation_info<
      lowering_config = #iree_codegen.lowering_config<tile_sizes = [[64, 80, 64]]>,
      translation_info = #iree_codegen.translation_info<LLVMGPUVectorDistribute,
        {mma_schedule = #iree_gpu.mma_schedule<
          intrinsic = #iree_gpu.mfma_layout<F16_16x16x16_F32>,
          subgroup_m_count = 2, subgroup_n_count = 1,
          subgroup_m_tile_count = 2, subgroup_n_tile_count = 5, subgroup_k_tile_count = 4>,
         "amdgpu-waves-per-eu" = 2}>,
      workgroup_size = [64, 2, 1], subgroup_size = 64>)";

// July 2024: options of the pipeline in the dictionary.
inline constexpr char kProductOfJuly[] = R"(#iree_codegen.compilation_info<
      lowering_config = #iree_codegen.lowering_config<tile_sizes = [[128, 160, 32]]>,
      translation_info = #iree_codegen.translation_info<LLVMGPUVectorDistribute workgroup_size = [128, 2, 1] subgroup_size = 64,
        {mma_schedule = #iree_gpu.mma_schedule<
           intrinsic = #iree_gpu.mma_layout<MFMA_F16_16x16x16_F32>, subgroup_m_count = 2, subgroup_n_count = 2>,
         reorder_workgroups = "transpose", prefetch_shared_memory}>>)";

// January 2025.
inline constexpr char kProductOfJanuary[] = R"(#iree_codegen.compilation_info<
      lowering_config = #iree_gpu.lowering_config<{promote_operands = [0, 1], mma_kind = #iree_gpu.mma_layout<MFMA_F32_16x16x16_F16>, subgroup_m_count = 4, subgroup_n_count = 2, reduction = [0, 0, 32], workgroup = [128, 128, 0]}>,
      translation_info = #iree_codegen.translation_info<pipeline = LLVMGPUVectorDistribute workgroup_size = [128, 4, 1] subgroup_size = 64,
        {gpu_pipeline_options = #iree_gpu.pipeline_options<prefetch_shared_memory = true>}>>)";

// A pipeline that was removed without a successor.
inline constexpr char kTensorCoreProduct[] = R"(#iree_codegen.compilation_info<
      lowering_config = #iree_codegen.lowering_config<tile_sizes = [[128, 160, 32]]>,
      translation_info = #iree_codegen.translation_info<LLVMGPUMatmulTensorCore workgroup_size = [128, 2, 1] subgroup_size = 64,
        {mma_schedule = #iree_gpu.mma_schedule<
           intrinsic = #iree_gpu.mma_layout<MFMA_F32_16x16x16_F16>, subgroup_m_count = 2, subgroup_n_count = 2>}>>)";

}  // namespace hone::iree
