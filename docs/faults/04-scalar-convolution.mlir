// fault: a convolution by groups has no vector instruction in its products
// flags: --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=skylake-avx512
// fixed if: code has (vfmadd|vmul)[0-9]*ps
func.func @main(%x: tensor<2x4x16x30x30xf32>, %w: tensor<16x4x16x3x3xf32>) -> tensor<2x4x16x28x28xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2x4x16x28x28xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x4x16x28x28xf32>) -> tensor<2x4x16x28x28xf32>
  %y = linalg.conv_2d_ngchw_fgchw ins(%x, %w : tensor<2x4x16x30x30xf32>, tensor<16x4x16x3x3xf32>)
    outs(%fill : tensor<2x4x16x28x28xf32>) -> tensor<2x4x16x28x28xf32>
  return %y : tensor<2x4x16x28x28xf32>
}
