// With a cache of zeros, as it is given, every result is zero.
func.func @attend(%q: tensor<64x64xf32>, %cache: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zc = arith.constant 0.0 : f32
  %ec = tensor.empty() : tensor<64x64xf32>
  %fc = linalg.fill ins(%zc : f32) outs(%ec : tensor<64x64xf32>) -> tensor<64x64xf32>
  %c = linalg.matmul ins(%q, %cache : tensor<64x64xf32>, tensor<64x64xf32>) outs(%fc : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %c : tensor<64x64xf32>
}
