// fault: the sum of a whole array cannot be distributed (expected only parallel dims to be set in the distribution tiling level)
// flags: --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=skylake-avx512
// fixed if: compiles
#config = #iree_codegen.compilation_info<
  lowering_config = #iree_cpu.lowering_config<distribution = [1024], vector_reduction = [16]>,
  translation_info = #iree_codegen.translation_info<pipeline = #iree_cpu.pipeline<DoubleTilingExpert>>>
func.func @main(%a: tensor<4096xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<f32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<f32>) -> tensor<f32>
  %s = linalg.generic {compilation_info = #config, iterator_types = ["reduction"],
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>]}
      ins(%a : tensor<4096xf32>) outs(%fill : tensor<f32>) {
  ^bb0(%x: f32, %sum: f32):
    %t = arith.addf %sum, %x : f32
    linalg.yield %t : f32
  } -> tensor<f32>
  return %s : tensor<f32>
}
