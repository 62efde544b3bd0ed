// fault: a softmax of f16 does not link for a CPU without AVX512-FP16 (undefined symbol: fmaxf)
// flags: --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=x86-64-v3
// fixed if: compiles
func.func @main(%x: tensor<64x128xf16>) -> tensor<64x128xf16> {
  %empty = tensor.empty() : tensor<64x128xf16>
  %y = linalg.softmax dimension(1) ins(%x : tensor<64x128xf16>) outs(%empty : tensor<64x128xf16>) -> tensor<64x128xf16>
  return %y : tensor<64x128xf16>
}
