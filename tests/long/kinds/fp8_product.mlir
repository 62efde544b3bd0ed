// PTX for sm_80 has no conversions of f8.
func.func @main(%a: tensor<256x512xf8E4M3FN>, %b: tensor<512x256xf8E4M3FN>) -> tensor<256x256xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x256xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  %c = linalg.matmul ins(%a, %b : tensor<256x512xf8E4M3FN>, tensor<512x256xf8E4M3FN>) outs(%f : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %c : tensor<256x256xf32>
}
