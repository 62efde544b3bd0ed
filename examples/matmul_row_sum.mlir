// A 32x2048x1024 (M x N x K) matrix product of f16 values in f32, then the sum of each row: two
// dispatches, of which the second is a reduction that hone does not tune yet.
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0)>
func.func @matmul_row_sum(%lhs: tensor<32x1024xf16>, %rhs: tensor<1024x2048xf16>) -> tensor<32xf32> {
  %zero = arith.constant 0.0 : f32

  %mm_acc = tensor.empty() : tensor<32x2048xf32>
  %mm_fill = linalg.fill ins(%zero : f32) outs(%mm_acc : tensor<32x2048xf32>) -> tensor<32x2048xf32>
  %mm = linalg.matmul ins(%lhs, %rhs : tensor<32x1024xf16>, tensor<1024x2048xf16>)
                      outs(%mm_fill : tensor<32x2048xf32>) -> tensor<32x2048xf32>

  %red_acc = tensor.empty() : tensor<32xf32>
  %red_fill = linalg.fill ins(%zero : f32) outs(%red_acc : tensor<32xf32>) -> tensor<32xf32>
  %red = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]}
      ins(%mm : tensor<32x2048xf32>) outs(%red_fill : tensor<32xf32>) {
  ^bb0(%in: f32, %out: f32):
    %sum = arith.addf %in, %out : f32
    linalg.yield %sum : f32
  } -> tensor<32xf32>
  return %red : tensor<32xf32>
}
