// How often the product is repeated is an input.
func.func @f(%a: tensor<64x64xf32>, %n: tensor<i32>) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  %i = tensor.extract %n[] : tensor<i32>
  %turns = arith.index_cast %i : i32 to index
  %r = scf.for %t = %c0 to %turns step %c1 iter_args(%s = %a) -> tensor<64x64xf32> {
    %e = tensor.empty() : tensor<64x64xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %p = linalg.matmul ins(%s, %a : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
    scf.yield %p : tensor<64x64xf32>
  }
  return %r : tensor<64x64xf32>
}
