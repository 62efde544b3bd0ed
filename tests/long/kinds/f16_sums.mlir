// Accumulators of f16, which ROCm's back end does not distribute.
func.func @f(%a: tensor<512x512xf16>, %b: tensor<512x512xf16>) -> tensor<512x512xf16> {
  %zc = arith.constant 0.0 : f16
  %ec = tensor.empty() : tensor<512x512xf16>
  %fc = linalg.fill ins(%zc : f16) outs(%ec : tensor<512x512xf16>) -> tensor<512x512xf16>
  %c = linalg.matmul ins(%a, %b : tensor<512x512xf16>, tensor<512x512xf16>) outs(%fc : tensor<512x512xf16>) -> tensor<512x512xf16>
  return %c : tensor<512x512xf16>
}
