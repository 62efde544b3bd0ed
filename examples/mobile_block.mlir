// Two inverted residual blocks as MobileNet has them, of one image (56x56, 24 channels). The first
// keeps the size and adds its input; the second halves it (stride 2). Each: 1x1 up to six times
// the channels, depthwise 3x3, 1x1 back, the first two with bias and relu6. IREE makes matrix
// products of the 1x1 convolutions.
//   hone tune examples/mobile_block.mlir --budget 1m
#image = affine_map<(n, h, w, c) -> (n, h, w, c)>
#channel = affine_map<(n, h, w, c) -> (c)>
func.func @stack(%x: tensor<1x56x56x24xf32>, %up1: tensor<1x1x24x144xf32>,
                 %up1_bias: tensor<144xf32>, %depth1: tensor<3x3x144xf32>,
                 %depth1_bias: tensor<144xf32>, %down1: tensor<1x1x144x24xf32>,
                 %down1_bias: tensor<24xf32>, %up2: tensor<1x1x24x144xf32>,
                 %up2_bias: tensor<144xf32>, %depth2: tensor<3x3x144xf32>,
                 %depth2_bias: tensor<144xf32>, %down2: tensor<1x1x144x32xf32>,
                 %down2_bias: tensor<32xf32>)
    -> tensor<1x28x28x32xf32> {
  %zero = arith.constant 0.0 : f32
  %six = arith.constant 6.0 : f32
  // Block 1, stride 1.
  %wide1_empty = tensor.empty() : tensor<1x56x56x144xf32>
  %wide1_zero = linalg.fill ins(%zero : f32) outs(%wide1_empty : tensor<1x56x56x144xf32>) -> tensor<1x56x56x144xf32>
  %wide1 = linalg.conv_2d_nhwc_hwcf {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%x, %up1 : tensor<1x56x56x24xf32>, tensor<1x1x24x144xf32>)
      outs(%wide1_zero : tensor<1x56x56x144xf32>) -> tensor<1x56x56x144xf32>
  %wide1_act = linalg.generic {indexing_maps = [#image, #channel, #image],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%wide1, %up1_bias : tensor<1x56x56x144xf32>, tensor<144xf32>)
      outs(%wide1_empty : tensor<1x56x56x144xf32>) {
    ^bb0(%value: f32, %bias: f32, %out: f32):
      %biased = arith.addf %value, %bias : f32
      %positive = arith.maximumf %biased, %zero : f32
      %capped = arith.minimumf %positive, %six : f32
      linalg.yield %capped : f32
  } -> tensor<1x56x56x144xf32>
  %padded1 = tensor.pad %wide1_act low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%n: index, %h: index, %w: index, %c: index):
    tensor.yield %zero : f32
  } : tensor<1x56x56x144xf32> to tensor<1x58x58x144xf32>
  %deep1_empty = tensor.empty() : tensor<1x56x56x144xf32>
  %deep1_zero = linalg.fill ins(%zero : f32) outs(%deep1_empty : tensor<1x56x56x144xf32>) -> tensor<1x56x56x144xf32>
  %deep1 = linalg.depthwise_conv_2d_nhwc_hwc {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%padded1, %depth1 : tensor<1x58x58x144xf32>, tensor<3x3x144xf32>)
      outs(%deep1_zero : tensor<1x56x56x144xf32>) -> tensor<1x56x56x144xf32>
  %deep1_act = linalg.generic {indexing_maps = [#image, #channel, #image],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%deep1, %depth1_bias : tensor<1x56x56x144xf32>, tensor<144xf32>)
      outs(%deep1_empty : tensor<1x56x56x144xf32>) {
    ^bb0(%value: f32, %bias: f32, %out: f32):
      %biased = arith.addf %value, %bias : f32
      %positive = arith.maximumf %biased, %zero : f32
      %capped = arith.minimumf %positive, %six : f32
      linalg.yield %capped : f32
  } -> tensor<1x56x56x144xf32>
  %narrow1_empty = tensor.empty() : tensor<1x56x56x24xf32>
  %narrow1_zero = linalg.fill ins(%zero : f32) outs(%narrow1_empty : tensor<1x56x56x24xf32>) -> tensor<1x56x56x24xf32>
  %narrow1 = linalg.conv_2d_nhwc_hwcf {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%deep1_act, %down1 : tensor<1x56x56x144xf32>, tensor<1x1x144x24xf32>)
      outs(%narrow1_zero : tensor<1x56x56x24xf32>) -> tensor<1x56x56x24xf32>
  %block1 = linalg.generic {indexing_maps = [#image, #channel, #image, #image],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%narrow1, %down1_bias, %x : tensor<1x56x56x24xf32>, tensor<24xf32>, tensor<1x56x56x24xf32>)
      outs(%narrow1_empty : tensor<1x56x56x24xf32>) {
    ^bb0(%value: f32, %bias: f32, %skip: f32, %out: f32):
      %biased = arith.addf %value, %bias : f32
      %sum = arith.addf %biased, %skip : f32
      linalg.yield %sum : f32
  } -> tensor<1x56x56x24xf32>
  // Block 2, stride 2.
  %wide2_empty = tensor.empty() : tensor<1x56x56x144xf32>
  %wide2_zero = linalg.fill ins(%zero : f32) outs(%wide2_empty : tensor<1x56x56x144xf32>) -> tensor<1x56x56x144xf32>
  %wide2 = linalg.conv_2d_nhwc_hwcf {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%block1, %up2 : tensor<1x56x56x24xf32>, tensor<1x1x24x144xf32>)
      outs(%wide2_zero : tensor<1x56x56x144xf32>) -> tensor<1x56x56x144xf32>
  %wide2_act = linalg.generic {indexing_maps = [#image, #channel, #image],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%wide2, %up2_bias : tensor<1x56x56x144xf32>, tensor<144xf32>)
      outs(%wide2_empty : tensor<1x56x56x144xf32>) {
    ^bb0(%value: f32, %bias: f32, %out: f32):
      %biased = arith.addf %value, %bias : f32
      %positive = arith.maximumf %biased, %zero : f32
      %capped = arith.minimumf %positive, %six : f32
      linalg.yield %capped : f32
  } -> tensor<1x56x56x144xf32>
  %padded2 = tensor.pad %wide2_act low[0, 0, 0, 0] high[0, 1, 1, 0] {
  ^bb0(%n: index, %h: index, %w: index, %c: index):
    tensor.yield %zero : f32
  } : tensor<1x56x56x144xf32> to tensor<1x57x57x144xf32>
  %deep2_empty = tensor.empty() : tensor<1x28x28x144xf32>
  %deep2_zero = linalg.fill ins(%zero : f32) outs(%deep2_empty : tensor<1x28x28x144xf32>) -> tensor<1x28x28x144xf32>
  %deep2 = linalg.depthwise_conv_2d_nhwc_hwc {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%padded2, %depth2 : tensor<1x57x57x144xf32>, tensor<3x3x144xf32>)
      outs(%deep2_zero : tensor<1x28x28x144xf32>) -> tensor<1x28x28x144xf32>
  %deep2_act = linalg.generic {indexing_maps = [#image, #channel, #image],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%deep2, %depth2_bias : tensor<1x28x28x144xf32>, tensor<144xf32>)
      outs(%deep2_empty : tensor<1x28x28x144xf32>) {
    ^bb0(%value: f32, %bias: f32, %out: f32):
      %biased = arith.addf %value, %bias : f32
      %positive = arith.maximumf %biased, %zero : f32
      %capped = arith.minimumf %positive, %six : f32
      linalg.yield %capped : f32
  } -> tensor<1x28x28x144xf32>
  %narrow2_empty = tensor.empty() : tensor<1x28x28x32xf32>
  %narrow2_zero = linalg.fill ins(%zero : f32) outs(%narrow2_empty : tensor<1x28x28x32xf32>) -> tensor<1x28x28x32xf32>
  %narrow2 = linalg.conv_2d_nhwc_hwcf {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%deep2_act, %down2 : tensor<1x28x28x144xf32>, tensor<1x1x144x32xf32>)
      outs(%narrow2_zero : tensor<1x28x28x32xf32>) -> tensor<1x28x28x32xf32>
  %result = linalg.generic {indexing_maps = [#image, #channel, #image],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%narrow2, %down2_bias : tensor<1x28x28x32xf32>, tensor<32xf32>)
      outs(%narrow2_empty : tensor<1x28x28x32xf32>) {
    ^bb0(%value: f32, %bias: f32, %out: f32):
      %biased = arith.addf %value, %bias : f32
      linalg.yield %biased : f32
  } -> tensor<1x28x28x32xf32>
  return %result : tensor<1x28x28x32xf32>
}
