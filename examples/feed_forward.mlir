// The feed-forward block of a transformer layer, f32: x W1 + b1, gelu (with erf), times W2, plus b2.
// 128 tokens of width 768, hidden width 3072: two matmul dispatches with elementwise work fused.
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d1)>
func.func @feed_forward(%x: tensor<128x768xf32>, %w1: tensor<768x3072xf32>, %b1: tensor<3072xf32>,
                        %w2: tensor<3072x768xf32>, %b2: tensor<768xf32>) -> tensor<128x768xf32> {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %rsqrt2 = arith.constant 0.70710678 : f32

  %hidden_empty = tensor.empty() : tensor<128x3072xf32>
  %hidden_zero = linalg.fill ins(%zero : f32) outs(%hidden_empty : tensor<128x3072xf32>) -> tensor<128x3072xf32>
  %hidden = linalg.matmul ins(%x, %w1 : tensor<128x768xf32>, tensor<768x3072xf32>)
                          outs(%hidden_zero : tensor<128x3072xf32>) -> tensor<128x3072xf32>
  %gelu = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%hidden, %b1 : tensor<128x3072xf32>, tensor<3072xf32>) outs(%hidden_empty : tensor<128x3072xf32>) {
  ^bb0(%value: f32, %bias: f32, %out: f32):
    %sum = arith.addf %value, %bias : f32
    %scaled = arith.mulf %sum, %rsqrt2 : f32
    %erf = math.erf %scaled : f32
    %shifted = arith.addf %erf, %one : f32
    %gated = arith.mulf %sum, %shifted : f32
    %result = arith.mulf %gated, %half : f32
    linalg.yield %result : f32
  } -> tensor<128x3072xf32>

  %out_empty = tensor.empty() : tensor<128x768xf32>
  %out_zero = linalg.fill ins(%zero : f32) outs(%out_empty : tensor<128x768xf32>) -> tensor<128x768xf32>
  %projected = linalg.matmul ins(%gelu, %w2 : tensor<128x3072xf32>, tensor<3072x768xf32>)
                             outs(%out_zero : tensor<128x768xf32>) -> tensor<128x768xf32>
  %biased = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%projected, %b2 : tensor<128x768xf32>, tensor<768xf32>) outs(%out_empty : tensor<128x768xf32>) {
  ^bb0(%value: f32, %bias: f32, %out: f32):
    %sum = arith.addf %value, %bias : f32
    linalg.yield %sum : f32
  } -> tensor<128x768xf32>
  return %biased : tensor<128x768xf32>
}
