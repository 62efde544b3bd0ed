// Entries of specs since 2024 in today's syntax. The real compiler parses each result.
#include "provider/iree/spec_upgrade/upgraded_spec.h"

#include <gmock/gmock.h>

#include "provider/iree/spec/tuning_spec.h"
#include "tests/provider_iree/compiler.h"
#include "tests/provider_spec/old_specs.h"

namespace hone::iree {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

UpgradedSpec upgraded(const std::string& text) {
  const auto spec = upgrade_spec(compiler(), {{"old.mlir"}, {text}});
  if (!spec) throw std::runtime_error(spec.error().message);
  return *spec;
}

UpgradedSpec upgraded_product(const std::string& configuration) {
  return upgraded(old_spec(kTransposedProduct + product_entry("match_mmt", configuration),
                           {"@match_mmt -> @apply_op_config"}));
}

std::string refusal(const std::string& text) {
  const auto spec = upgrade_spec(compiler(), {{"old.mlir"}, {text}});
  return spec ? "upgraded" : spec.error().message;
}

std::vector<std::string> problems(const UpgradedSpec& spec) {
  std::vector<std::string> problems;
  for (const UpgradedEntry& entry : spec.entries) problems.push_back(entry.problem);
  return problems;
}

// As the compiler prints the configuration of the entry `i`.
ParsedSpecEntry read_back(const UpgradedSpec& spec, std::size_t i = 0) {
  const auto read = read_spec_file(compiler(), "upgraded.mlir", spec.text);
  if (!read) throw std::runtime_error(read.error().message);
  return read->entries.at(i);
}

TEST(UpgradedSpec, TileSizesOfApril2024BecomeThoseOfTheWorkgroupAndTheReduction) {
  const UpgradedSpec spec = upgraded_product(kProductOfApril);
  EXPECT_THAT(problems(spec), ElementsAre(""));
  const ParsedSpecEntry entry = read_back(spec);
  EXPECT_EQ(entry.lowering_config,
            "#iree_gpu.lowering_config<{mma_kind = #iree_gpu.mma_layout<MFMA_F32_16x16x16_F16>, "
            "promote_operands = [0, 1], reduction = [0, 0, 64], subgroup_basis = [[2, 1, 1], [0, "
            "1, 2]], workgroup = [64, 80, 0]}>");
  EXPECT_EQ(entry.translation_info,
            "#iree_codegen.translation_info<pipeline = #iree_gpu.pipeline<VectorDistribute> "
            "workgroup_size = [64, 2, 1] subgroup_size = 64, {llvm_func_attrs = "
            "{\"amdgpu-waves-per-eu\" = \"2\"}}>");
}

TEST(UpgradedSpec, OptionsOfThePipelineBecomeOneAttribute) {
  EXPECT_EQ(read_back(upgraded_product(kProductOfJuly)).translation_info,
            "#iree_codegen.translation_info<pipeline = #iree_gpu.pipeline<VectorDistribute> "
            "workgroup_size = [128, 2, 1] subgroup_size = 64, {gpu_pipeline_options = "
            "#iree_gpu.pipeline_options<prefetch_num_stages = 2, reorder_workgroups_strategy = "
            "<Transpose>>}>");
}

TEST(UpgradedSpec, APipelineThatPaddedPartialTilesBecomesTheOneThatMasksThem) {
  std::string padded = kProductOfJuly;
  padded.replace(padded.find("LLVMGPUVector"), 13, "LLVMGPUPadAndVector");
  const UpgradedSpec spec = upgraded_product(padded);
  EXPECT_THAT(spec.entries.at(0).changes,
              Contains("LLVMGPUPadAndVectorDistribute -> masks of VectorDistribute (2026-03-24)"));
  EXPECT_EQ(read_back(spec).lowering_config,
            read_back(upgraded_product(kProductOfJuly)).lowering_config);
}

TEST(UpgradedSpec, SubgroupCountsBecomeABasis) {
  const UpgradedSpec spec = upgraded_product(kProductOfJanuary);
  EXPECT_THAT(read_back(spec).lowering_config,
              HasSubstr("subgroup_basis = [[4, 2, 1], [0, 1, 2]]"));
  EXPECT_THAT(spec.entries.at(0).changes,
              ElementsAre("subgroup_m_count -> subgroup_basis (2025-09-17)",
                          "prefetch_shared_memory -> prefetch_num_stages (2025-12-04)",
                          "LLVMGPUVectorDistribute -> #iree_gpu.pipeline<...> (2026-03-18)"));
}

TEST(UpgradedSpec, TheEntryPointGetsItsResult) {
  EXPECT_THAT(upgraded_product(kProductOfJanuary).text,
              AllOf(HasSubstr("-> !transform.any_op attributes "
                              "{iree_codegen.tuning_spec_entrypoint} {"),
                    HasSubstr("%hone_updated = transform.foreach_match in %variant_op"),
                    HasSubstr("transform.yield %hone_updated : !transform.any_op")));
}

TEST(UpgradedSpec, WhatCannotBeUpgradedIsNamedAndLeftOut) {
  const UpgradedSpec spec = upgraded(
      old_spec(kTransposedProduct + product_entry("match_tensor_core", kTensorCoreProduct) +
                   "\n  // Stays.\n" + product_entry("match_mmt", kProductOfJuly),
               {"@match_tensor_core -> @apply_op_config", "@match_mmt -> @apply_op_config"}));
  EXPECT_THAT(problems(spec),
              ElementsAre("pipeline LLVMGPUMatmulTensorCore was removed (IREE 1c0dfca88b, "
                          "2025-08-28)",
                          ""));
  EXPECT_THAT(spec.text, AllOf(Not(HasSubstr("match_tensor_core")), HasSubstr("// Stays.")));
  EXPECT_EQ(read_back(spec).matcher, "match_mmt");
  EXPECT_THAT(spec.left_out, ElementsAre("match_tensor_core"));
}

TEST(UpgradedSpec, NothingIsGuessed) {
  std::string contradicts = kProductOfApril, without = kProductOfApril;
  contradicts.replace(contradicts.find("tile_count = 5"), 14, "tile_count = 4");
  EXPECT_THAT(problems(upgraded_product(contradicts)),
              ElementsAre("subgroup tile counts that contradict its tile_sizes"));
  const auto schedule = without.find("mma_schedule"), waves = without.find("\"amdgpu");
  EXPECT_THAT(problems(upgraded_product(without.erase(schedule, waves - schedule))),
              ElementsAre(HasSubstr("tile_sizes without an mma_schedule")));
  std::string threads = kProductOfJanuary;
  threads.replace(threads.find("[128, 4, 1]"), 11, "[128, 2, 1]");
  EXPECT_THAT(problems(upgraded_product(threads)),
              ElementsAre("4 subgroups in the workgroup, and 8 in its schedule"));
  // A matcher by an operation's name says nothing of its loops.
  EXPECT_THAT(
      problems(upgraded(old_spec(
          fmt::format("  transform.named_sequence @any(%op: !transform.any_op "
                      "{{transform.readonly}}) -> (!transform.any_op, !transform.any_param) {{\n"
                      "    transform.match.operation_name %op [\"linalg.generic\"] : "
                      "!transform.any_op\n    %config = transform.param.constant {} -> "
                      "!transform.any_param\n    transform.yield %op, %config : "
                      "!transform.any_op, !transform.any_param\n  }}\n",
                      kProductOfJuly),
          {"@any -> @apply_op_config"}))),
      ElementsAre("tile_sizes, and its matcher does not state the loops"));
}

TEST(UpgradedSpec, APassThatTheCompilerLostIsNamed) {
  const auto entry = [](const std::string& pass) {
    return old_spec(
        "  transform.named_sequence @match(%op: !transform.any_op {transform.readonly}) -> "
        "!transform.any_op {\n    transform.yield %op : !transform.any_op\n  }\n"
        "  transform.named_sequence @run(%op: !transform.any_op {transform.readonly}) {\n"
        "    %f = transform.get_parent_op %op {op_name = \"func.func\"} : (!transform.any_op) -> "
        "!transform.any_op\n    %1 = transform.apply_registered_pass \"" +
            pass +
            "\" to %f : (!transform.any_op) -> !transform.any_op\n    transform.yield\n  }\n",
        {"@match -> @run"});
  };
  EXPECT_THAT(
      problems(upgraded(entry("iree-amdgpu-prepare-chained-matmul"))),
      ElementsAre("@run: pass iree-amdgpu-prepare-chained-matmul, which IREE does not have"));
  EXPECT_THAT(problems(upgraded(entry(std::string(kBatchRestoringPass)))), ElementsAre(""));
}

// January 2025: four subgroups for a tile of 64 rows by 32x32x8, of which two repeated the work.
constexpr char kAttention[] = R"(
  transform.named_sequence @apply_attn_op_config(%attention: !transform.any_op {transform.readonly}, %config: !transform.any_param {transform.readonly}, %decomposition_config: !transform.any_param {transform.readonly}) {
    transform.annotate %attention "compilation_info" = %config : !transform.any_op, !transform.any_param
    transform.annotate %attention "decomposition_config" = %decomposition_config : !transform.any_op, !transform.any_param
    transform.print %attention {name = "Applied"} : !transform.any_op
    transform.yield
  }
  transform.named_sequence @match_attention(%attention: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param, !transform.any_param) {
    transform.match.operation_name %attention ["iree_linalg_ext.attention"] : !transform.any_op
    %config = transform.param.constant #iree_codegen.compilation_info<
      lowering_config = #iree_gpu.lowering_config<{workgroup = [1, 1, 64, 0, 0, 0], reduction = [0, 0, 0, 0, 0, 64], promote_operands = [1, 2]}>,
      translation_info = #iree_codegen.translation_info<pipeline = LLVMGPUVectorDistribute workgroup_size = [64, 4] subgroup_size = 64>> -> !transform.any_param
    %decomposition_config = transform.param.constant {
      qk_attrs = {attention_qk_matmul, lowering_config = #iree_gpu.lowering_config<{mma_kind = #iree_gpu.virtual_mma_layout<intrinsic = VMFMA_F32_32x32x16_F16>, subgroup_m_count = 4, subgroup_n_count = 1, promote_operands = [1]}>},
      pv_attrs = {attention_pv_matmul, lowering_config = #iree_gpu.lowering_config<{mma_kind = #iree_gpu.mma_layout<MFMA_F32_32x32x8_F16>, subgroup_m_count = 4, subgroup_n_count = 1, promote_operands = [1]}>}
    } -> !transform.any_param
    transform.yield %attention, %config, %decomposition_config : !transform.any_op, !transform.any_param, !transform.any_param
  }
)";

TEST(UpgradedSpec, AnAttentionIsMatchedOnlineAndTransposedAsTheCompilerDid) {
  const UpgradedSpec spec =
      upgraded(old_spec(kAttention, {"@match_attention -> @apply_attn_op_config"}));
  EXPECT_THAT(problems(spec), ElementsAre(""));
  EXPECT_THAT(
      spec.text,
      AllOf(HasSubstr("[\"iree_linalg_ext.online_attention\"]"),
            HasSubstr("mma_kind = #iree_gpu.virtual_mma_layout<VMFMA_F32_32x32x16_F16, col_major = "
                      "true>, promote_operands = [1], subgroup_basis = [[1, 1, 2, 1, 1, 1], [0, 1, "
                      "2, 4, 5]]"),
            HasSubstr("mma_kind = #iree_gpu.mma_layout<MFMA_F32_32x32x8_F16, col_major = true>, "
                      "promote_operands = [1], subgroup_basis = [[1, 1, 2, 1, 1, 1], [0, 1, 2, 3, "
                      "5]]"),
            Not(HasSubstr("attention_qk_matmul"))));
  EXPECT_THAT(read_back(spec).translation_info, HasSubstr("workgroup_size = [64, 2]"));
}

TEST(UpgradedSpec, AnAttentionOfAnotherOrderOfLoopsIsNamed) {
  std::string text = kAttention;
  text.replace(text.find("[0, 0, 0, 0, 0, 64]"), 19, "[0, 0, 0, 0, 64, 0]");
  EXPECT_THAT(problems(upgraded(old_spec(text, {"@match_attention -> @apply_attn_op_config"}))),
              ElementsAre(StartsWith("tiles of an attention in another order of loops")));
}

TEST(UpgradedSpec, AnAttentionThatIsWrittenOutBecomesAMatchOfAnOnlineOne) {
  const std::string matcher = R"(
  transform.named_sequence @match_written(%root: !transform.any_op {transform.readonly}) -> !transform.any_op {
    transform.match.operation_name %root ["iree_linalg_ext.attention"] : !transform.any_op
    %ins, %outs = transform.iree.match.cast_compatible_dag_from_root %root {
      ^bb0(%q: tensor<?x?x64xf16>, %k: tensor<?x?x?xf16>, %v: tensor<?x?x?xf16>, %scale: f16, %out: tensor<?x?x?xf16>):
      %attn = iree_linalg_ext.attention {indexing_maps = [
          affine_map<(B, M, N, K1, K2) -> (B, M, K1)>, affine_map<(B, M, N, K1, K2) -> (B, K2, K1)>,
          affine_map<(B, M, N, K1, K2) -> (B, N, K2)>, affine_map<(B, M, N, K1, K2) -> ()>,
          affine_map<(B, M, N, K1, K2) -> (B, M, N)>]}
        ins(%q, %k, %v, %scale : tensor<?x?x64xf16>, tensor<?x?x?xf16>, tensor<?x?x?xf16>, f16) outs(%out : tensor<?x?x?xf16>) {
          ^bb0(%arg0: f32):
            iree_linalg_ext.yield %arg0 : f32
        } -> tensor<?x?x?xf16>
    } : (!transform.any_op) -> (!transform.any_value, !transform.any_value)
    transform.yield %root : !transform.any_op
  }
  transform.named_sequence @mark(%op: !transform.any_op {transform.readonly}) {
    transform.yield
  }
)";
  const UpgradedSpec spec = upgraded(old_spec(matcher, {"@match_written -> @mark"}));
  EXPECT_THAT(problems(spec), ElementsAre(""));
  EXPECT_THAT(
      spec.text,
      AllOf(HasSubstr("transform.iree.match.online_attention %root"),
            HasSubstr("query_type = f16, key_type = f16, value_type = f16, scale_type = f16"),
            HasSubstr("affine_map<(B, M, N, K1, K2) -> (B, M)>, affine_map<(B, M, N, K1, K2) -> "
                      "(B, M)>]"),
            HasSubstr("cast_compatible_type %hone_operand_0 = tensor<?x?x64xf16>")));
}

// A matcher of 2025 that has a named operation written out, and an action.
std::string written_entry(const std::string& operands, const std::string& operation) {
  return R"(
  transform.named_sequence @match_named(%root: !transform.any_op {transform.readonly}) -> (!transform.any_op) {
    %ins, %outs = transform.iree.match.cast_compatible_dag_from_root %root {
    ^bb0()" +
         operands + "):\n      %1 = " + operation + R"(
    } : (!transform.any_op) -> (!transform.any_value, !transform.any_value)
    transform.yield %root : !transform.any_op
  }
  transform.named_sequence @mark(%op: !transform.any_op {transform.readonly}) {
    transform.yield
  }
)";
}

TEST(UpgradedSpec, NamedProductsAndConvolutionsAreMatchedByTheirLoops) {
  const UpgradedSpec product = upgraded(old_spec(
      written_entry("%a: tensor<32x1024xf16>, %b: tensor<1024x?xf16>, %c: tensor<32x?xf32>",
                    "linalg.matmul ins(%a, %b : tensor<32x1024xf16>, tensor<1024x?xf16>) "
                    "outs(%c : tensor<32x?xf32>) -> tensor<32x?xf32>"),
      {"@match_named -> @mark"}));
  EXPECT_THAT(problems(product), ElementsAre(""));
  EXPECT_THAT(
      product.text,
      AllOf(HasSubstr("lhs_type = f16, rhs_type = f16, output_type = f32"),
            HasSubstr("affine_map<(m, n, k) -> (k, n)>"), HasSubstr("dims_equal %hone_m, [32]"),
            HasSubstr("dims_equal %hone_n, [-1]"), HasSubstr("dims_equal %hone_k, [1024]")));
  const UpgradedSpec convolution = upgraded(old_spec(
      written_entry("%x: tensor<2x?x?x640xf16>, %f: tensor<3x3x640x320xf16>, %o: "
                    "tensor<2x64x32x320xf32>",
                    "linalg.conv_2d_nhwc_hwcf { dilations = dense<1> : vector<2xi64>, strides = "
                    "dense<[1, 2]> : vector<2xi64> } ins(%x, %f : tensor<2x?x?x640xf16>, "
                    "tensor<3x3x640x320xf16>) outs(%o : tensor<2x64x32x320xf32>) -> "
                    "tensor<2x64x32x320xf32>"),
      {"@match_named -> @mark"}));
  EXPECT_THAT(problems(convolution), ElementsAre(""));
  EXPECT_THAT(
      convolution.text,
      AllOf(HasSubstr("transform.iree.match.convolution %root"),
            HasSubstr("-> (d0, d1 + d4, d2 * 2 + d5, d6)>"),
            HasSubstr("dims_equal %hone_image, [64, 32]"), HasSubstr("%hone_filter, [3, 3]"),
            HasSubstr("%hone_input, [640]"), HasSubstr("%hone_output, [320]")));
}

TEST(UpgradedSpec, AProgramGetsTheOperationsOfToday) {
  const UpgradedSpec program = upgraded(R"(
func.func @main(%a: tensor<4x8xf16>, %b: tensor<16x8xf16>) -> tensor<4x16xf32> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<4x16xf32>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<4x16xf32>) -> tensor<4x16xf32>
  %r = linalg.matmul_transpose_b ins(%a, %b : tensor<4x8xf16>, tensor<16x8xf16>) outs(%f : tensor<4x16xf32>) -> tensor<4x16xf32>
  return %r : tensor<4x16xf32>
}
)");
  EXPECT_TRUE(program.is_program);
  EXPECT_THAT(program.changes,
              ElementsAre("matmul_transpose_b -> matmul of indexing maps (2025-08-16)",
                          "linalg.fill that casts -> a cast before it (2026)"));
  EXPECT_THAT(program.text, AllOf(HasSubstr("%hone_filled_1 = arith.extf %zero : f16 to f32"),
                                  HasSubstr("linalg.fill ins(%hone_filled_1 : f32)"),
                                  HasSubstr("affine_map<(m, n, k) -> (n, k)>")));
  EXPECT_THAT(refusal("func.func @main() {\n  new.operation\n  return\n}\n"),
              HasSubstr("'old.mlir' is no program that IREE reads, nor one after 0 changes"));
}

TEST(UpgradedSpec, AConfigurationInsideAProgramIsUpgradedByItsOperation) {
  const auto program = [](const std::string& configuration) {
    return "#config = " + configuration + R"(
func.func @main(%a: tensor<2048x1280xf16>, %b: tensor<1280x1280xf16>, %c: tensor<2048x1280xf32>) -> tensor<2048x1280xf32> {
  %r = linalg.matmul_transpose_b {compilation_info = #config} ins(%a, %b : tensor<2048x1280xf16>, tensor<1280x1280xf16>) outs(%c : tensor<2048x1280xf32>) -> tensor<2048x1280xf32>
  return %r : tensor<2048x1280xf32>
}
)";
  };
  EXPECT_THAT(
      upgraded(program(kProductOfJuly)).text,
      AllOf(HasSubstr("workgroup = [128, 160, 0], reduction = [0, 0, 32]"),
            HasSubstr("subgroup_basis = [[2, 2, 1], [0, 1, 2]]"), Not(HasSubstr("#config"))));
  EXPECT_THAT(refusal(program(kTensorCoreProduct)),
              HasSubstr("pipeline LLVMGPUMatmulTensorCore was removed"));
}

// A benchmark of June 2024: layouts by sets, flow's tensors, a configuration.
std::string benchmark(const std::string& offsets) {
  return R"(module attributes {hal.device.targets = [#hal.device.target<"rocm", {legacy_sync}>]} {
  hal.executable private @main_dispatch_0 {
    hal.executable.variant public @rocm_hsaco_fb target(<"rocm", "rocm-hsaco-fb", {mma_intrinsics = [#iree_gpu.mma_layout<MFMA_F16_16x16x16_F32>]}>) {
      hal.executable.export public @product ordinal(0) layout(#hal.pipeline.layout<push_constants = 1, sets = [<0, bindings = [<0, storage_buffer, ReadOnly>, <1, storage_buffer>]>]>) {
      ^bb0(%arg0: !hal.device):
        %x, %y, %z = flow.dispatch.workgroup_count_from_slice
        hal.return %x, %y, %z : index, index, index
      }
      builtin.module {
        func.func @product() attributes {translation_info = #iree_codegen.translation_info<LLVMGPUVectorDistribute workgroup_size = [128, 2, 1] subgroup_size = 64>} {
          %zero = arith.constant 0.0 : f16
          %0 = hal.interface.constant.load[0] : i32
          %1 = arith.index_castui %0 : i32 to index
          %2 = hal.interface.binding.subspan set(0) binding(0) type(storage_buffer) alignment(64) offset(%1) flags(ReadOnly) : !flow.dispatch.tensor<readonly:tensor<64x64xf16>>
          %3 = hal.interface.binding.subspan set(0) binding(1) type(storage_buffer) alignment(64) offset(%1) : !flow.dispatch.tensor<writeonly:tensor<64x64xf32>>
          %4 = flow.dispatch.tensor.load %2, offsets = [0, 0], sizes = [)" +
         offsets +
         R"(], strides = [1, 1] : !flow.dispatch.tensor<readonly:tensor<64x64xf16>> -> tensor<64x64xf16>
          %5 = tensor.empty() : tensor<64x64xf32>
          %6 = linalg.fill {lowering_config = #iree_codegen.lowering_config<tile_sizes = [[64, 64, 32]]>} ins(%zero : f16) outs(%5 : tensor<64x64xf32>) -> tensor<64x64xf32>
          %7 = linalg.matmul {lowering_config = #iree_codegen.lowering_config<tile_sizes = [[64, 64, 32]]>} ins(%4, %4 : tensor<64x64xf16>, tensor<64x64xf16>) outs(%6 : tensor<64x64xf32>) -> tensor<64x64xf32>
          flow.dispatch.tensor.store %7, %3, offsets = [0, 0], sizes = [64, 64], strides = [1, 1] : tensor<64x64xf32> -> !flow.dispatch.tensor<writeonly:tensor<64x64xf32>>
          return
        }
      }
    }
  }
}
)";
}

TEST(UpgradedSpec, ABenchmarkOfADispatchBecomesItsProgram) {
  const UpgradedSpec program = upgraded(benchmark("64, 64"));
  EXPECT_THAT(program.changes, ElementsAre("linalg.fill that casts -> a cast before it (2026)",
                                           "benchmark of a dispatch -> its program (any date)"));
  EXPECT_THAT(program.text,
              AllOf(StartsWith("func.func @product(%hone_argument0: tensor<64x64xf16>) -> "
                               "(tensor<64x64xf32>) {"),
                    HasSubstr("ins(%hone_argument0, %hone_argument0 :"),
                    HasSubstr("return %7 : tensor<64x64xf32>"), Not(HasSubstr("lowering_config"))));
  EXPECT_THAT(refusal(benchmark("32, 64")),
              HasSubstr("old.mlir:16: a binding that is read in parts"));
}

// The steps that state a configuration, of the scripts of 2024; clean-ups between them left out.
std::string attention_script(const std::string& warp_tile) {
  return R"(
  transform.named_sequence @lower(%variant_op: !transform.any_op {transform.readonly}) {
    %attention = transform.structured.match ops{["iree_linalg_ext.attention"]} in %variant_op : (!transform.any_op) -> !transform.any_op
    %tiled, %grid = transform.structured.tile_using_forall %attention tile_sizes [1, 128] ( mapping = [#gpu.block<x>, #gpu.block<y>] ) : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %0, %1, %2, %3, %4, %5, %blocked = transform.iree.tile_attention %attention {tile_size = 32} : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
    %scale_q, %fill_op, %first, %max, %soft, %factor, %update, %sum, %truncate, %scale_acc, %second = transform.iree.decompose_tiled_attention %blocked {tile_size = 32} : (!transform.any_op) -> (!transform.any_op)
    %promoted_first, %alloc0 = transform.iree.promote_operands %first [1] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %promoted_second, %alloc1 = transform.iree.promote_operands %second [1] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %a, %b = transform.structured.tile_using_forall %promoted_second tile_sizes [)" +
         warp_tile +
         R"(] (mapping = [#gpu.warp<linear_dim_0>]) : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.iree.map_nested_forall_to_gpu_threads %variant_op workgroup_dims = [64, 4, 1] subgroup_size = 64 : (!transform.any_op) -> ()
    %chained = transform.apply_registered_pass "iree-amdgpu-prepare-chained-matmul" to %variant_op : (!transform.any_op) -> (!transform.any_op)
    %layout = transform.param.constant #layout -> !transform.any_param
    transform.iree.set_contraction_layout_attributes %a, %layout { read_layout_indices = array<i64: 0, 1> } : !transform.any_op, !transform.any_param
    transform.iree.set_contraction_layout_attributes %b, %layout : !transform.any_op, !transform.any_param
    %prefetched = transform.iree.prefetch_shared_memory_copies %a : (!transform.any_op) -> (!transform.any_op)
    transform.iree.reduce_shared_memory_bank_conflicts %variant_op : (!transform.any_op) -> ()
    transform.yield
  }
  transform.named_sequence @custom(%attention: !transform.any_op {transform.readonly}) {
    %func = transform.get_parent_op %attention {op_name = "func.func"} : (!transform.any_op) -> !transform.any_op
    %attn = transform.param.constant #iree_codegen.translation_info<TransformDialectCodegen codegen_spec = @lower, {"amdgpu-waves-per-eu" = 2}> -> !transform.any_param
    transform.annotate %func "translation_info" = %attn : !transform.any_op, !transform.any_param
    transform.yield
  }
  transform.named_sequence @match_attention(%attention: !transform.any_op {transform.readonly}) -> (!transform.any_op) {
    transform.match.operation_name %attention ["iree_linalg_ext.attention"] : !transform.any_op
    transform.yield %attention : !transform.any_op
  }
)";
}

TEST(UpgradedSpec, AScriptThatLoweredAnAttentionBecomesItsConfiguration) {
  const std::string alias = "#layout = #iree_gpu.mma_layout<MFMA_F16_32x32x8_F32>\n";
  const UpgradedSpec spec =
      upgraded(alias + old_spec(attention_script("32"), {"@match_attention -> @custom"}));
  EXPECT_THAT(problems(spec), ElementsAre(""));
  EXPECT_EQ(read_back(spec).lowering_config,
            "#iree_gpu.lowering_config<{promote_operands = [1, 2], reduction = [0, 0, 0, 0, 32], "
            "workgroup = [1, 128, 0, 0, 0]}>");
  EXPECT_THAT(read_back(spec).translation_info,
              AllOf(HasSubstr("workgroup_size = [64, 4, 1]"), HasSubstr("prefetch_num_stages = 2"),
                    HasSubstr("\"amdgpu-waves-per-eu\" = \"2\"")));
  EXPECT_THAT(spec.text, HasSubstr("mma_kind = #iree_gpu.mma_layout<MFMA_F32_32x32x8_F16, "
                                   "col_major = true>, subgroup_basis = [[1, 4, 1, 1, 1], [0, 1, "
                                   "3, 4]], promote_operands = [1]"));
  EXPECT_THAT(spec.text, Not(HasSubstr("#layout")));
  // Warps of another tile do not make up the workgroup.
  EXPECT_THAT(
      problems(upgraded(alias + old_spec(attention_script("64"), {"@match_attention -> @custom"}))),
      ElementsAre("@lower: transform.iree.tile_attention was removed (IREE dd3f2a3928, "
                  "2024-10-10)"));
}

TEST(UpgradedSpec, TodaysSpecStaysByteForByte) {
  const std::string text = upgraded_product(kProductOfJuly).text;
  const UpgradedSpec spec = upgraded(text);
  EXPECT_EQ(spec.text, text);
  EXPECT_THAT(spec.entries.at(0).changes, IsEmpty());
  EXPECT_THAT(spec.changes, IsEmpty());
}

TEST(UpgradedSpec, MatchesOfOctober2025GetTheirKeywords) {
  const std::string matcher = R"(
  transform.named_sequence @match(%root: !transform.any_op {transform.readonly}) -> (!transform.any_op) {
    %batch, %m, %n, %k = transform.iree.match.contraction %root, lhs_type = f16, rhs_type = f16, output_type = f32
      {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]} :
      (!transform.any_op) -> (!transform.param<i64>, !transform.param<i64>, !transform.param<i64>, !transform.param<i64>)
    transform.iree.match.dims_equal %m, [2048] : !transform.param<i64>
    transform.yield %root : !transform.any_op
  }
  transform.named_sequence @mark(%op: !transform.any_op {transform.readonly}) {
    transform.yield
  }
)";
  EXPECT_THAT(problems(upgraded(old_spec(matcher, {"@match -> @mark"}))), ElementsAre(""));
}

TEST(UpgradedSpec, ASpecOfANewerCompilerIsRefused) {
  EXPECT_THAT(
      refusal("module attributes {transform.with_named_sequence} {\n"
              "  transform.named_sequence @match(%op: !transform.any_op {transform.readonly}) -> "
              "!transform.any_op {\n    transform.iree.match.of_tomorrow %op : !transform.any_op\n"
              "    transform.yield %op : !transform.any_op\n  }\n"
              "  transform.named_sequence @mark(%op: !transform.any_op {transform.readonly}) {\n"
              "    transform.yield\n  }\n"
              "  transform.named_sequence @__kernel_config(%variant: !transform.any_op "
              "{transform.consumed}) -> !transform.any_op attributes "
              "{iree_codegen.tuning_spec_entrypoint} {\n    %r = transform.foreach_match in "
              "%variant @match -> @mark : (!transform.any_op) -> !transform.any_op\n"
              "    transform.yield %r : !transform.any_op\n  }\n}\n"),
      AllOf(HasSubstr("old.mlir:2: @match has no old syntax that hone knows"),
            HasSubstr("of a newer compiler")));
}

TEST(UpgradedSpec, FilesThatAreNoSpecAreRefusedWithTheirLine) {
  EXPECT_THAT(refusal("module {\n"), HasSubstr("old.mlir:1: '{' is not closed"));
  EXPECT_THAT(refusal("  }\n}\n"), HasSubstr("old.mlir:1: '}' closes nothing"));
  EXPECT_THAT(refusal("// nothing\n"), HasSubstr("holds no module"));
  EXPECT_THAT(refusal("ML\xefR\x01"), HasSubstr("'old.mlir' is bytecode"));
  EXPECT_THAT(refusal("module {\n}\n// -----\nmodule {\n}\n"),
              HasSubstr("old.mlir:4: the file has 2 modules"));
  EXPECT_THAT(refusal("module {\n}\n"), HasSubstr("has no transform.named_sequence"));
  EXPECT_THAT(refusal(old_spec("", {"@missing -> @apply_op_config"})),
              HasSubstr("@missing is not beside @__kernel_config"));
}

}  // namespace
}  // namespace hone::iree
