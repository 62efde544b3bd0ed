// A 2048x1280x1280 (M x N x K) matrix product of f16 values summed in f32, as in f16 inference.
func.func @matmul_f16(%a: tensor<2048x1280xf16>, %b: tensor<1280x1280xf16>) -> tensor<2048x1280xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2048x1280xf32>
  %filled = linalg.fill ins(%zero : f32) outs(%empty : tensor<2048x1280xf32>) -> tensor<2048x1280xf32>
  %product = linalg.matmul ins(%a, %b : tensor<2048x1280xf16>, tensor<1280x1280xf16>)
                           outs(%filled : tensor<2048x1280xf32>) -> tensor<2048x1280xf32>
  return %product : tensor<2048x1280xf32>
}
