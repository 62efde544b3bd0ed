// A product with a bias, and the sum of each of its rows: two dispatches.
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0)>
#map2 = affine_map<(d0, d1) -> (d1)>
func.func @product_and_sums(%lhs: tensor<128x16xf32>, %rhs: tensor<16x4096xf32>,
                            %bias: tensor<4096xf32>) -> tensor<128xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<128x4096xf32>
  %filled = linalg.fill ins(%zero : f32) outs(%empty : tensor<128x4096xf32>) -> tensor<128x4096xf32>
  %product = linalg.matmul ins(%lhs, %rhs : tensor<128x16xf32>, tensor<16x4096xf32>)
                           outs(%filled : tensor<128x4096xf32>) -> tensor<128x4096xf32>
  %biased = linalg.generic {indexing_maps = [#map, #map2, #map],
                            iterator_types = ["parallel", "parallel"]}
      ins(%product, %bias : tensor<128x4096xf32>, tensor<4096xf32>)
      outs(%empty : tensor<128x4096xf32>) {
  ^bb0(%in: f32, %b: f32, %out: f32):
    %sum = arith.addf %in, %b : f32
    linalg.yield %sum : f32
  } -> tensor<128x4096xf32>
  %none = tensor.empty() : tensor<128xf32>
  %none_filled = linalg.fill ins(%zero : f32) outs(%none : tensor<128xf32>) -> tensor<128xf32>
  %sums = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]}
      ins(%biased : tensor<128x4096xf32>) outs(%none_filled : tensor<128xf32>) {
  ^bb0(%in: f32, %out: f32):
    %sum = arith.addf %in, %out : f32
    linalg.yield %sum : f32
  } -> tensor<128xf32>
  return %sums : tensor<128xf32>
}
