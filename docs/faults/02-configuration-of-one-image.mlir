// fault: the configuration of a convolution of one image is lost when its batch loop is restored
// flags: --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=skylake-avx512 --compile-to=executable-configurations
// fixed if: output has 0, 7, 14, 32
#tiles = #iree_cpu.lowering_config<distribution = [0, 7, 14, 32, 0, 0, 0],
  vector_common_parallel = [1, 1, 7, 16, 0, 0, 0], vector_reduction = [0, 0, 0, 0, 1, 1, 4]>
#config = #iree_codegen.compilation_info<lowering_config = #tiles,
  translation_info = #iree_codegen.translation_info<pipeline = #iree_cpu.pipeline<ConvTileAndDecomposeExpert>>>
func.func @main(%x: tensor<1x30x30x64xf32>, %w: tensor<3x3x64x64xf32>) -> tensor<1x28x28x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x28x28x64xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x28x28x64xf32>) -> tensor<1x28x28x64xf32>
  %y = linalg.conv_2d_nhwc_hwcf {compilation_info = #config}
    ins(%x, %w : tensor<1x30x30x64xf32>, tensor<3x3x64x64xf32>) outs(%fill : tensor<1x28x28x64xf32>)
    -> tensor<1x28x28x64xf32>
  return %y : tensor<1x28x28x64xf32>
}
