// An index, a tensor of rank 0 and f8 beside a product.
func.func @f(%n: index, %s: tensor<f32>, %q: tensor<64x64xf8E4M3FN>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %e = tensor.empty() : tensor<64x64xf32>
  %i = arith.index_cast %n : index to i64
  %g = arith.sitofp %i : i64 to f32
  %a = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%q, %s : tensor<64x64xf8E4M3FN>, tensor<f32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%x: f8E4M3FN, %t: f32, %o: f32):
    %w = arith.extf %x : f8E4M3FN to f32
    %u = arith.mulf %w, %t : f32
    %v = arith.addf %u, %g : f32
    linalg.yield %v : f32
  } -> tensor<64x64xf32>
  %zc = arith.constant 0.0 : f32
  %ec = tensor.empty() : tensor<64x64xf32>
  %fc = linalg.fill ins(%zc : f32) outs(%ec : tensor<64x64xf32>) -> tensor<64x64xf32>
  %c = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%fc : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %c : tensor<64x64xf32>
}
