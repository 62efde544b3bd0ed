// fault: two configured operations of one dispatch do not compile (multiple ops trying to set the translation info)
// flags: --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=skylake-avx512
// fixed if: compiles
#same = affine_map<(i, j) -> (i, j)>
#matmul = #iree_codegen.compilation_info<
  lowering_config = #iree_cpu.lowering_config<distribution = [64, 64, 0],
    vector_common_parallel = [8, 32, 0], vector_reduction = [0, 0, 4]>,
  translation_info = #iree_codegen.translation_info<pipeline = #iree_cpu.pipeline<DoubleTilingExpert>>>
#add = #iree_codegen.compilation_info<
  lowering_config = #iree_cpu.lowering_config<distribution = [64, 64], vector_common_parallel = [8, 32]>,
  translation_info = #iree_codegen.translation_info<pipeline = #iree_cpu.pipeline<DoubleTilingExpert>>>
func.func @main(%a: tensor<256x256xf32>, %b: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<256x256xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<256x256xf32>) -> tensor<256x256xf32>
  %c = linalg.matmul {compilation_info = #matmul} ins(%a, %b : tensor<256x256xf32>, tensor<256x256xf32>)
    outs(%fill : tensor<256x256xf32>) -> tensor<256x256xf32>
  %d = linalg.generic {compilation_info = #add, indexing_maps = [#same, #same, #same],
      iterator_types = ["parallel", "parallel"]}
    ins(%c, %b : tensor<256x256xf32>, tensor<256x256xf32>) outs(%empty : tensor<256x256xf32>) {
  ^bb0(%p: f32, %q: f32, %r: f32):
    %s = arith.addf %p, %q : f32
    linalg.yield %s : f32
  } -> tensor<256x256xf32>
  return %d : tensor<256x256xf32>
}
