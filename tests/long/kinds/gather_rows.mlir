// Two ids for each row of the result, one of them counted from 1.
func.func @f(%ids: tensor<16x2xi32>, %table: tensor<100x64xf32>, %w: tensor<64x64xf32>) -> tensor<16x64xf32> {
  %e = tensor.empty() : tensor<16x64xf32>
  %a = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<16x64xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %p = tensor.extract %ids[%i, %c0] : tensor<16x2xi32>
    %q = tensor.extract %ids[%i, %c1] : tensor<16x2xi32>
    %one = arith.constant 1 : i32
    %q0 = arith.subi %q, %one : i32
    %pi = arith.index_cast %p : i32 to index
    %qi = arith.index_cast %q0 : i32 to index
    %x = tensor.extract %table[%pi, %j] : tensor<100x64xf32>
    %y = tensor.extract %table[%qi, %j] : tensor<100x64xf32>
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<16x64xf32>
  %zc = arith.constant 0.0 : f32
  %ec = tensor.empty() : tensor<16x64xf32>
  %fc = linalg.fill ins(%zc : f32) outs(%ec : tensor<16x64xf32>) -> tensor<16x64xf32>
  %c = linalg.matmul ins(%a, %w : tensor<16x64xf32>, tensor<64x64xf32>) outs(%fc : tensor<16x64xf32>) -> tensor<16x64xf32>
  return %c : tensor<16x64xf32>
}
