// fault: a batch matmul of f16 reads rows of the next batch and multiplies them with zeros (an infinity there gives NaN)
// flags: --iree-hal-target-device=cuda --iree-cuda-target=sm_80
// input: 2x1x31xf16 = 1
// input: 2x31x7xf16 = inf if i == 1 and j == 0 else 1
// fixed if: results are 2x1x7xf16 = 31 if i == 0 else inf
func.func @main(%a: tensor<2x1x31xf16>, %b: tensor<2x31x7xf16>) -> tensor<2x1x7xf16> {
  %zero = arith.constant 0.0 : f16
  %empty = tensor.empty() : tensor<2x1x7xf16>
  %fill = linalg.fill ins(%zero : f16) outs(%empty : tensor<2x1x7xf16>) -> tensor<2x1x7xf16>
  %c = linalg.batch_matmul ins(%a, %b : tensor<2x1x31xf16>, tensor<2x31x7xf16>)
    outs(%fill : tensor<2x1x7xf16>) -> tensor<2x1x7xf16>
  return %c : tensor<2x1x7xf16>
}
