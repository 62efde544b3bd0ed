// fault: a product with sums of f16 does not compile for gfx942 (failed to distribute)
// flags: --iree-hal-target-device=hip --iree-rocm-target=gfx942
// fixed if: compiles
func.func @main(%a: tensor<256x256xf16>, %b: tensor<256x256xf16>) -> tensor<256x256xf16> {
  %zero = arith.constant 0.0 : f16
  %empty = tensor.empty() : tensor<256x256xf16>
  %fill = linalg.fill ins(%zero : f16) outs(%empty : tensor<256x256xf16>) -> tensor<256x256xf16>
  %c = linalg.matmul ins(%a, %b : tensor<256x256xf16>, tensor<256x256xf16>) outs(%fill : tensor<256x256xf16>)
    -> tensor<256x256xf16>
  return %c : tensor<256x256xf16>
}
