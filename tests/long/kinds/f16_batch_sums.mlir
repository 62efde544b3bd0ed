func.func @f(%a: tensor<4x256x128xf16>, %b: tensor<4x128x256xf16>) -> tensor<4x256x256xf16> {
  %z = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<4x256x256xf16>
  %f = linalg.fill ins(%z : f16) outs(%e : tensor<4x256x256xf16>) -> tensor<4x256x256xf16>
  %c = linalg.batch_matmul ins(%a, %b : tensor<4x256x128xf16>, tensor<4x128x256xf16>) outs(%f : tensor<4x256x256xf16>) -> tensor<4x256x256xf16>
  return %c : tensor<4x256x256xf16>
}
