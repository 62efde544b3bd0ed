// The compiler has no code for erfc.
func.func @f(%a: tensor<4096xf32>) -> tensor<4096xf32> {
  %e = tensor.empty() : tensor<4096xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%a : tensor<4096xf32>) outs(%e : tensor<4096xf32>) {
  ^bb0(%x: f32, %o: f32):
    %m = math.erfc %x : f32
    linalg.yield %m : f32
  } -> tensor<4096xf32>
  return %r : tensor<4096xf32>
}
