// The feed-forward block of a transformer layer for a GPU, f16 values summed in f32: x W1 + b1, gelu
// (with erf), times W2, plus b2. 2048 tokens of width 1280, hidden width 5120: two matmul dispatches
// with elementwise work fused.
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d1)>
func.func @feed_forward(%x: tensor<2048x1280xf16>, %w1: tensor<1280x5120xf16>, %b1: tensor<5120xf32>,
                        %w2: tensor<5120x1280xf16>, %b2: tensor<1280xf32>) -> tensor<2048x1280xf16> {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %rsqrt2 = arith.constant 0.70710678 : f32

  %hidden_empty = tensor.empty() : tensor<2048x5120xf32>
  %hidden_zero = linalg.fill ins(%zero : f32) outs(%hidden_empty : tensor<2048x5120xf32>) -> tensor<2048x5120xf32>
  %hidden = linalg.matmul ins(%x, %w1 : tensor<2048x1280xf16>, tensor<1280x5120xf16>)
                          outs(%hidden_zero : tensor<2048x5120xf32>) -> tensor<2048x5120xf32>
  %gelu_empty = tensor.empty() : tensor<2048x5120xf16>
  %gelu = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%hidden, %b1 : tensor<2048x5120xf32>, tensor<5120xf32>) outs(%gelu_empty : tensor<2048x5120xf16>) {
  ^bb0(%value: f32, %bias: f32, %out: f16):
    %sum = arith.addf %value, %bias : f32
    %scaled = arith.mulf %sum, %rsqrt2 : f32
    %erf = math.erf %scaled : f32
    %shifted = arith.addf %erf, %one : f32
    %gated = arith.mulf %sum, %shifted : f32
    %result = arith.mulf %gated, %half : f32
    %narrow = arith.truncf %result : f32 to f16
    linalg.yield %narrow : f16
  } -> tensor<2048x5120xf16>

  %out_empty = tensor.empty() : tensor<2048x1280xf32>
  %out_zero = linalg.fill ins(%zero : f32) outs(%out_empty : tensor<2048x1280xf32>) -> tensor<2048x1280xf32>
  %projected = linalg.matmul ins(%gelu, %w2 : tensor<2048x5120xf16>, tensor<5120x1280xf16>)
                             outs(%out_zero : tensor<2048x1280xf32>) -> tensor<2048x1280xf32>
  %biased_empty = tensor.empty() : tensor<2048x1280xf16>
  %biased = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%projected, %b2 : tensor<2048x1280xf32>, tensor<1280xf32>) outs(%biased_empty : tensor<2048x1280xf16>) {
  ^bb0(%value: f32, %bias: f32, %out: f16):
    %sum = arith.addf %value, %bias : f32
    %narrow = arith.truncf %sum : f32 to f16
    linalg.yield %narrow : f16
  } -> tensor<2048x1280xf16>
  return %biased : tensor<2048x1280xf16>
}
