// A call takes seconds: 3,000 products, one after the other.
func.func @slow(%a: tensor<256x256xf32>, %b: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 3000 : index
  %z = arith.constant 0.0 : f32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %a) -> tensor<256x256xf32> {
    %e = tensor.empty() : tensor<256x256xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
    %c = linalg.matmul ins(%s, %b : tensor<256x256xf32>, tensor<256x256xf32>) outs(%f : tensor<256x256xf32>) -> tensor<256x256xf32>
    %t = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%c : tensor<256x256xf32>) outs(%e : tensor<256x256xf32>) {
    ^bb0(%x: f32, %o: f32):
      %h = math.tanh %x : f32
      linalg.yield %h : f32
    } -> tensor<256x256xf32>
    scf.yield %t : tensor<256x256xf32>
  }
  return %r : tensor<256x256xf32>
}
