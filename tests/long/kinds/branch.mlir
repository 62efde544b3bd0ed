// One arm is never taken, and a loop has seven turns.
func.func @main(%a: tensor<64x64xf32>, %w: tensor<64x32xf32>) -> (tensor<64x64xf32>, tensor<64x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %far = arith.constant 1.0e9 : f32
  %z = arith.constant 0.0 : f32
  %loop = scf.for %i = %c0 to %c7 step %c1 iter_args(%s = %a) -> tensor<64x64xf32> {
    %e = tensor.empty() : tensor<64x64xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %p = linalg.matmul ins(%s, %a : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
    scf.yield %p : tensor<64x64xf32>
  }
  %first = tensor.extract %a[%c0, %c0] : tensor<64x64xf32>
  %is_far = arith.cmpf ogt, %first, %far : f32
  %arm = scf.if %is_far -> tensor<64x32xf32> {
    %e = tensor.empty() : tensor<64x32xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x32xf32>) -> tensor<64x32xf32>
    %p = linalg.matmul ins(%a, %w : tensor<64x64xf32>, tensor<64x32xf32>) outs(%f : tensor<64x32xf32>) -> tensor<64x32xf32>
    scf.yield %p : tensor<64x32xf32>
  } else {
    scf.yield %w : tensor<64x32xf32>
  }
  return %loop, %arm : tensor<64x64xf32>, tensor<64x32xf32>
}
