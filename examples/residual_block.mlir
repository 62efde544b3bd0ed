// A residual block of two images (28x28, 64 channels): two convolutions of 3x3 over channels-last
// images, bias and relu fused behind the first, bias, the block's input and relu behind the second.
//   hone tune examples/residual_block.mlir --budget 1m
#image = affine_map<(n, h, w, c) -> (n, h, w, c)>
#channel = affine_map<(n, h, w, c) -> (c)>
func.func @block(%x: tensor<2x28x28x64xf32>,
                 %w1: tensor<3x3x64x64xf32>, %b1: tensor<64xf32>,
                 %w2: tensor<3x3x64x64xf32>, %b2: tensor<64xf32>)
    -> tensor<2x28x28x64xf32> {
  %zero = arith.constant 0.0 : f32
  %padded1 = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%n: index, %h: index, %w: index, %c: index):
    tensor.yield %zero : f32
  } : tensor<2x28x28x64xf32> to tensor<2x30x30x64xf32>
  %conv1_empty = tensor.empty() : tensor<2x28x28x64xf32>
  %conv1_zero = linalg.fill ins(%zero : f32) outs(%conv1_empty : tensor<2x28x28x64xf32>) -> tensor<2x28x28x64xf32>
  %conv1 = linalg.conv_2d_nhwc_hwcf {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%padded1, %w1 : tensor<2x30x30x64xf32>, tensor<3x3x64x64xf32>)
      outs(%conv1_zero : tensor<2x28x28x64xf32>) -> tensor<2x28x28x64xf32>
  %hidden = linalg.generic {indexing_maps = [#image, #channel, #image],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%conv1, %b1 : tensor<2x28x28x64xf32>, tensor<64xf32>)
      outs(%conv1_empty : tensor<2x28x28x64xf32>) {
    ^bb0(%value: f32, %bias: f32, %out: f32):
      %biased = arith.addf %value, %bias : f32
      %positive = arith.maximumf %biased, %zero : f32
      linalg.yield %positive : f32
  } -> tensor<2x28x28x64xf32>
  %padded2 = tensor.pad %hidden low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%n: index, %h: index, %w: index, %c: index):
    tensor.yield %zero : f32
  } : tensor<2x28x28x64xf32> to tensor<2x30x30x64xf32>
  %conv2_empty = tensor.empty() : tensor<2x28x28x64xf32>
  %conv2_zero = linalg.fill ins(%zero : f32) outs(%conv2_empty : tensor<2x28x28x64xf32>) -> tensor<2x28x28x64xf32>
  %conv2 = linalg.conv_2d_nhwc_hwcf {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%padded2, %w2 : tensor<2x30x30x64xf32>, tensor<3x3x64x64xf32>)
      outs(%conv2_zero : tensor<2x28x28x64xf32>) -> tensor<2x28x28x64xf32>
  %result = linalg.generic {indexing_maps = [#image, #channel, #image, #image],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%conv2, %b2, %x : tensor<2x28x28x64xf32>, tensor<64xf32>, tensor<2x28x28x64xf32>)
      outs(%conv2_empty : tensor<2x28x28x64xf32>) {
    ^bb0(%value: f32, %bias: f32, %skip: f32, %out: f32):
      %biased = arith.addf %value, %bias : f32
      %sum = arith.addf %biased, %skip : f32
      %positive = arith.maximumf %sum, %zero : f32
      linalg.yield %positive : f32
  } -> tensor<2x28x28x64xf32>
  return %result : tensor<2x28x28x64xf32>
}
