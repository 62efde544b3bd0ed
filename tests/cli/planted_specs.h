// Programs of products, and specs whose entries are planted: good, slow, dead, ignored.
#pragma once

#include <string>
#include <vector>

namespace hone::cli {

// Products f32 of m x 256 x 256, one for each m.
inline std::string square_products(const std::vector<int>& extents) {
  std::string text;
  for (const int m : extents) {
    const std::string rows = std::to_string(m), type = "tensor<" + rows + "x256xf32>";
    text += "func.func @product_" + rows + "(%a: " + type + ", %b: tensor<256x256xf32>) -> " +
            type + " {\n  %z = arith.constant 0.0 : f32\n  %e = tensor.empty() : " + type +
            "\n  %f = linalg.fill ins(%z : f32) outs(%e : " + type + ") -> " + type +
            "\n  %r = linalg.matmul ins(%a, %b : " + type +
            ", tensor<256x256xf32>) outs(%f : " + type + ") -> " + type +
            "\n  return %r : " + type + "\n}\n";
  }
  return text;
}

struct PlantedEntry {
  std::string name;
  int m = 128;
  std::string configuration;  // text of compilation_info
  std::string annotates = "compilation_info";
};

inline std::string on_cpu(const std::string& tiles) {
  return "lowering_config = #iree_cpu.lowering_config<" + tiles +
         ">, translation_info = #iree_codegen.translation_info<pipeline = "
         "#iree_cpu.pipeline<DoubleTilingExpert>>";
}
inline const std::string kGoodTiles = on_cpu(
    "distribution = [32, 64, 0], vector_common_parallel = [8, 16, 0], "
    "vector_reduction = [0, 0, 8]");
// One element at a time: slower than any default.
inline const std::string kTinyTiles = on_cpu(
    "distribution = [1, 1, 0], vector_common_parallel = [1, 1, 0], vector_reduction = [0, 0, 1]");
inline const std::string kOnGpu =
    "lowering_config = #iree_gpu.lowering_config<{reduction = [0, 0, 8], thread = [1, 4, 0], "
    "workgroup = [16, 64, 0]}>, translation_info = #iree_codegen.translation_info<pipeline = "
    "#iree_gpu.pipeline<TileAndFuse> workgroup_size = [16, 16, 1] subgroup_size = 32>";

// As other tuners write them: the matcher yields the configuration, one action sets it. `type`: of
// the operands of the products that the entries match.
inline std::string planted_spec(const std::vector<PlantedEntry>& entries,
                                const std::string& type = "f32") {
  std::string text = "module attributes {transform.with_named_sequence} {\n", pairs;
  for (const PlantedEntry& entry : entries) {
    text += "transform.named_sequence @" + entry.name +
            "(%root: !transform.any_op {transform.readonly})"
            " -> (!transform.any_op, !transform.any_param) {\n"
            "  %batch, %m, %n, %k = transform.iree.match.contraction %root,\n"
            "    lhs_type = " +
            type + ", rhs_type = " + type +
            ", output_type = f32,\n"
            "    indexing_maps = [affine_map<(m, n, k) -> (m, k)>,\n"
            "      affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]\n"
            "    : !transform.any_op -> !transform.param<i64>\n"
            "  transform.iree.match.dims_equal %m, [" +
            std::to_string(entry.m) +
            "] : !transform.param<i64>\n"
            "  %info = transform.param.constant #iree_codegen.compilation_info<" +
            entry.configuration +
            "> -> !transform.any_param\n"
            "  transform.yield %root, %info : !transform.any_op, !transform.any_param\n}\n"
            "transform.named_sequence @set_" +
            entry.name +
            "(%root: !transform.any_op {transform.readonly},\n"
            "    %info: !transform.any_param {transform.readonly}) {\n"
            "  transform.annotate %root \"" +
            entry.annotates +
            "\" = %info : !transform.any_op, !transform.any_param\n"
            "  transform.yield\n}\n";
    pairs += (pairs.empty() ? "@" : ", @") + entry.name + " -> @set_" + entry.name;
  }
  return text +
         "transform.named_sequence @__kernel_config(%v: !transform.any_op {transform.consumed})\n"
         "    -> !transform.any_op attributes {iree_codegen.tuning_spec_entrypoint} {\n"
         "  %r = transform.foreach_match in %v " +
         pairs +
         " : (!transform.any_op) -> !transform.any_op\n"
         "  transform.yield %r : !transform.any_op\n}\n}\n";
}

}  // namespace hone::cli
