// Weights of one value, as benchmark programs have them.
func.func @f(%a: tensor<128x256xf32>) -> tensor<128x256xf32> {
  %b = arith.constant dense<0.1> : tensor<256x256xf32>
  %zc = arith.constant 0.0 : f32
  %ec = tensor.empty() : tensor<128x256xf32>
  %fc = linalg.fill ins(%zc : f32) outs(%ec : tensor<128x256xf32>) -> tensor<128x256xf32>
  %c = linalg.matmul ins(%a, %b : tensor<128x256xf32>, tensor<256x256xf32>) outs(%fc : tensor<128x256xf32>) -> tensor<128x256xf32>
  return %c : tensor<128x256xf32>
}
