// The attention block of a transformer layer: layer norm, one projection to queries, keys and
// values, attention of 4 heads over 128 positions, the projection of its result and the residual.
#rows = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d1)>
module {
  func.func @main(%x: tensor<128x256xf32>, %scale: tensor<256xf32>, %shift: tensor<256xf32>,
                  %wqkv: tensor<256x768xf32>, %bqkv: tensor<768xf32>, %wout: tensor<256x256xf32>,
                  %bout: tensor<256xf32>) -> tensor<128x256xf32> {
    %zero = arith.constant 0.0 : f32
    %width = arith.constant 256.0 : f32
    %epsilon = arith.constant 1.0e-5 : f32
    %sharpness = arith.constant 0.125 : f32
    %e_row = tensor.empty() : tensor<128xf32>
    %zeros = linalg.fill ins(%zero : f32) outs(%e_row : tensor<128xf32>) -> tensor<128xf32>

    // Layer norm.
    %sum = linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<128x256xf32>) outs(%zeros : tensor<128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.addf %in, %out : f32
      linalg.yield %0 : f32
    } -> tensor<128xf32>
    %squares = linalg.generic {indexing_maps = [#rows, #row, #row],
                               iterator_types = ["parallel", "reduction"]}
        ins(%x, %sum : tensor<128x256xf32>, tensor<128xf32>) outs(%zeros : tensor<128xf32>) {
    ^bb0(%in: f32, %s: f32, %out: f32):
      %mean = arith.divf %s, %width : f32
      %0 = arith.subf %in, %mean : f32
      %1 = arith.mulf %0, %0 : f32
      %2 = arith.addf %1, %out : f32
      linalg.yield %2 : f32
    } -> tensor<128xf32>
    %e_x = tensor.empty() : tensor<128x256xf32>
    %normal = linalg.generic {indexing_maps = [#rows, #row, #row, #column, #column, #rows],
                              iterator_types = ["parallel", "parallel"]}
        ins(%x, %sum, %squares, %scale, %shift : tensor<128x256xf32>, tensor<128xf32>,
            tensor<128xf32>, tensor<256xf32>, tensor<256xf32>)
        outs(%e_x : tensor<128x256xf32>) {
    ^bb0(%in: f32, %s: f32, %q: f32, %g: f32, %b: f32, %out: f32):
      %mean = arith.divf %s, %width : f32
      %variance = arith.divf %q, %width : f32
      %safe = arith.addf %variance, %epsilon : f32
      %factor = math.rsqrt %safe : f32
      %0 = arith.subf %in, %mean : f32
      %1 = arith.mulf %0, %factor : f32
      %2 = arith.mulf %1, %g : f32
      %3 = arith.addf %2, %b : f32
      linalg.yield %3 : f32
    } -> tensor<128x256xf32>

    // Queries, keys and values.
    %e_qkv = tensor.empty() : tensor<128x768xf32>
    %z_qkv = linalg.fill ins(%zero : f32) outs(%e_qkv : tensor<128x768xf32>) -> tensor<128x768xf32>
    %product = linalg.matmul ins(%normal, %wqkv : tensor<128x256xf32>, tensor<256x768xf32>)
        outs(%z_qkv : tensor<128x768xf32>) -> tensor<128x768xf32>
    %qkv = linalg.generic {indexing_maps = [#rows, #column, #rows],
                           iterator_types = ["parallel", "parallel"]}
        ins(%product, %bqkv : tensor<128x768xf32>, tensor<768xf32>)
        outs(%e_qkv : tensor<128x768xf32>) {
    ^bb0(%in: f32, %b: f32, %out: f32):
      %0 = arith.addf %in, %b : f32
      linalg.yield %0 : f32
    } -> tensor<128x768xf32>
    %split = tensor.expand_shape %qkv [[0], [1, 2]] output_shape [128, 12, 64]
        : tensor<128x768xf32> into tensor<128x12x64xf32>
    %e_heads = tensor.empty() : tensor<12x128x64xf32>
    %turned = linalg.transpose ins(%split : tensor<128x12x64xf32>)
        outs(%e_heads : tensor<12x128x64xf32>) permutation = [1, 0, 2]
    %query = tensor.extract_slice %turned[0, 0, 0] [4, 128, 64] [1, 1, 1]
        : tensor<12x128x64xf32> to tensor<4x128x64xf32>
    %key = tensor.extract_slice %turned[4, 0, 0] [4, 128, 64] [1, 1, 1]
        : tensor<12x128x64xf32> to tensor<4x128x64xf32>
    %value = tensor.extract_slice %turned[8, 0, 0] [4, 128, 64] [1, 1, 1]
        : tensor<12x128x64xf32> to tensor<4x128x64xf32>

    %e_attention = tensor.empty() : tensor<4x128x64xf32>
    %attention = iree_linalg_ext.attention <{indexing_maps = [
        affine_map<(b, m, n, k1, k2) -> (b, m, k1)>, affine_map<(b, m, n, k1, k2) -> (b, k2, k1)>,
        affine_map<(b, m, n, k1, k2) -> (b, k2, n)>, affine_map<(b, m, n, k1, k2) -> ()>,
        affine_map<(b, m, n, k1, k2) -> (b, m, n)>]}>
        ins(%query, %key, %value, %sharpness : tensor<4x128x64xf32>, tensor<4x128x64xf32>,
            tensor<4x128x64xf32>, f32)
        outs(%e_attention : tensor<4x128x64xf32>) {
      ^bb0(%score: f32):
        iree_linalg_ext.yield %score : f32
    } -> tensor<4x128x64xf32>

    // Heads side by side, projected, and the residual.
    %e_joined = tensor.empty() : tensor<128x4x64xf32>
    %back = linalg.transpose ins(%attention : tensor<4x128x64xf32>)
        outs(%e_joined : tensor<128x4x64xf32>) permutation = [1, 0, 2]
    %joined = tensor.collapse_shape %back [[0], [1, 2]]
        : tensor<128x4x64xf32> into tensor<128x256xf32>
    %z_out = linalg.fill ins(%zero : f32) outs(%e_x : tensor<128x256xf32>) -> tensor<128x256xf32>
    %projected = linalg.matmul ins(%joined, %wout : tensor<128x256xf32>, tensor<256x256xf32>)
        outs(%z_out : tensor<128x256xf32>) -> tensor<128x256xf32>
    %result = linalg.generic {indexing_maps = [#rows, #column, #rows, #rows],
                              iterator_types = ["parallel", "parallel"]}
        ins(%projected, %bout, %x : tensor<128x256xf32>, tensor<256xf32>, tensor<128x256xf32>)
        outs(%e_x : tensor<128x256xf32>) {
    ^bb0(%in: f32, %b: f32, %r: f32, %out: f32):
      %0 = arith.addf %in, %b : f32
      %1 = arith.addf %0, %r : f32
      linalg.yield %1 : f32
    } -> tensor<128x256xf32>
    return %result : tensor<128x256xf32>
  }
}
