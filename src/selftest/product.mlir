func.func @product(%a: tensor<128x256xf16>, %b: tensor<256x192xf16>) -> tensor<128x192xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x192xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<128x192xf32>) -> tensor<128x192xf32>
  %r = linalg.matmul ins(%a, %b : tensor<128x256xf16>, tensor<256x192xf16>)
      outs(%f : tensor<128x192xf32>) -> tensor<128x192xf32>
  return %r : tensor<128x192xf32>
}
