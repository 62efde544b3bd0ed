// fault: the configuration of a softmax is dropped when the operation is decomposed
// flags: --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=skylake-avx512 --compile-to=executable-configurations
// fixed if: output has distribution = [16, 0]
#config = #iree_codegen.compilation_info<
  lowering_config = #iree_cpu.lowering_config<distribution = [16, 0], vector_common_parallel = [4, 0]>,
  translation_info = #iree_codegen.translation_info<pipeline = #iree_cpu.pipeline<DoubleTilingExpert>>>
func.func @main(%x: tensor<64x128xf32>) -> tensor<64x128xf32> {
  %empty = tensor.empty() : tensor<64x128xf32>
  %y = linalg.softmax {compilation_info = #config} dimension(1) ins(%x : tensor<64x128xf32>)
    outs(%empty : tensor<64x128xf32>) -> tensor<64x128xf32>
  return %y : tensor<64x128xf32>
}
