// The logarithm of shares, of which some are next to nothing.
func.func @f(%a: tensor<64x256xf32>, %b: tensor<256x128xf32>) -> tensor<64x128xf32> {
  %zc = arith.constant 0.0 : f32
  %ec = tensor.empty() : tensor<64x128xf32>
  %fc = linalg.fill ins(%zc : f32) outs(%ec : tensor<64x128xf32>) -> tensor<64x128xf32>
  %c = linalg.matmul ins(%a, %b : tensor<64x256xf32>, tensor<256x128xf32>) outs(%fc : tensor<64x128xf32>) -> tensor<64x128xf32>
  %s = linalg.softmax dimension(1) ins(%c : tensor<64x128xf32>) outs(%ec : tensor<64x128xf32>) -> tensor<64x128xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<64x128xf32>) outs(%ec : tensor<64x128xf32>) {
  ^bb0(%x: f32, %o: f32):
    %l = math.log %x : f32
    linalg.yield %l : f32
  } -> tensor<64x128xf32>
  return %r : tensor<64x128xf32>
}
