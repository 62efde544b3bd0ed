// fault: the compiler crashes when it states the constraints of a batch matmul for CUDA (SIGSEGV)
// flags: --iree-hal-target-device=cuda --iree-cuda-target=sm_80 --iree-codegen-emit-pipeline-constraints --compile-to=executable-configurations
// fixed if: compiles
func.func @main(%a: tensor<4x64x128xf16>, %b: tensor<4x128x256xf16>) -> tensor<4x64x256xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4x64x256xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x64x256xf32>) -> tensor<4x64x256xf32>
  %c = linalg.batch_matmul ins(%a, %b : tensor<4x64x128xf16>, tensor<4x128x256xf16>)
    outs(%fill : tensor<4x64x256xf32>) -> tensor<4x64x256xf32>
  return %c : tensor<4x64x256xf32>
}
