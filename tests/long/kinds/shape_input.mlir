// The rows of the result are an input.
func.func @f(%a: tensor<256x64xf32>, %rows: tensor<1xi64>, %b: tensor<64x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %i = tensor.extract %rows[%c0] : tensor<1xi64>
  %m = arith.index_cast %i : i64 to index
  %s = tensor.extract_slice %a[0, 0] [%m, 64] [1, 1] : tensor<256x64xf32> to tensor<?x64xf32>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %c = linalg.matmul ins(%s, %b : tensor<?x64xf32>, tensor<64x64xf32>) outs(%f : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %c : tensor<?x64xf32>
}
