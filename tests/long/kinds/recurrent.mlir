// A recurrent step, for each of the inputs: the loop carries the state, and the compiler its extent.
func.func @rnn(%x: tensor<?x?x64xf32>, %w: tensor<64x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  %t = tensor.dim %x, %c0 : tensor<?x?x64xf32>
  %b = tensor.dim %x, %c1 : tensor<?x?x64xf32>
  %e = tensor.empty(%b) : tensor<?x64xf32>
  %start = linalg.fill ins(%z : f32) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %h = scf.for %i = %c0 to %t step %c1 iter_args(%s = %start) -> tensor<?x64xf32> {
    %n = tensor.dim %s, %c0 : tensor<?x64xf32>
    %step = tensor.extract_slice %x[%i, 0, 0] [1, %n, 64] [1, 1, 1] : tensor<?x?x64xf32> to tensor<?x64xf32>
    %r = linalg.matmul ins(%s, %w : tensor<?x64xf32>, tensor<64x64xf32>) outs(%step : tensor<?x64xf32>) -> tensor<?x64xf32>
    scf.yield %r : tensor<?x64xf32>
  }
  return %h : tensor<?x64xf32>
}
