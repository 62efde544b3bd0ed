// Which elements of a product are positive.
func.func @positive(%a: tensor<128x64xf32>, %b: tensor<64x128xf32>) -> tensor<128x128xi1> {
  %zc = arith.constant 0.0 : f32
  %ec = tensor.empty() : tensor<128x128xf32>
  %fc = linalg.fill ins(%zc : f32) outs(%ec : tensor<128x128xf32>) -> tensor<128x128xf32>
  %c = linalg.matmul ins(%a, %b : tensor<128x64xf32>, tensor<64x128xf32>) outs(%fc : tensor<128x128xf32>) -> tensor<128x128xf32>
  %p = tensor.empty() : tensor<128x128xi1>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%c : tensor<128x128xf32>) outs(%p : tensor<128x128xi1>) {
  ^bb0(%x: f32, %o: i1):
    %g = arith.cmpf ogt, %x, %zc : f32
    linalg.yield %g : i1
  } -> tensor<128x128xi1>
  return %r : tensor<128x128xi1>
}
