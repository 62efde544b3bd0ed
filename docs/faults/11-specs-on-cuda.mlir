// fault: a tuning spec for CUDA is ignored without a message, even one that is no MLIR
// flags: --iree-hal-target-device=cuda --iree-cuda-target=sm_80 --iree-codegen-tuning-spec-path=/dev/null
// fixed if: refused
func.func @main(%a: tensor<256x256xf32>, %b: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<256x256xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<256x256xf32>) -> tensor<256x256xf32>
  %c = linalg.matmul ins(%a, %b : tensor<256x256xf32>, tensor<256x256xf32>) outs(%fill : tensor<256x256xf32>)
    -> tensor<256x256xf32>
  return %c : tensor<256x256xf32>
}
