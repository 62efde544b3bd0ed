// fault: a 1x1 convolution of stride 2 is wrong if its sums take more than one step of 256 terms
// flags: --iree-hal-target-device=cuda --iree-cuda-target=sm_80
// input: 1x14x14x1024xf16 = (j % 4 + k + 1) * (l % 5 == l // 256)
// input: 1x1x1024x2048xf16 = (k % 2 + 1) * (l % 3 - 1)
// The sum of (n % 5 == n // 256) * (n % 2 + 1) over 1024 n is 312. All results are multiples of 8: exact in f16.
// fixed if: results are 1x7x7x2048xf16 = 312 * (2 * j % 4 + 2 * k + 1) * (l % 3 - 1)
// Without an operation before it, the compiler makes a plain product of the convolution: another kernel.
func.func @main(%given: tensor<1x14x14x1024xf16>, %w: tensor<1x1x1024x2048xf16>) -> tensor<1x7x7x2048xf16> {
  %x = math.absf %given : tensor<1x14x14x1024xf16>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x7x7x2048xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x7x7x2048xf32>) -> tensor<1x7x7x2048xf32>
  %sums = linalg.conv_2d_nhwc_hwcf {strides = dense<2> : tensor<2xi64>}
    ins(%x, %w : tensor<1x14x14x1024xf16>, tensor<1x1x1024x2048xf16>) outs(%fill : tensor<1x7x7x2048xf32>)
    -> tensor<1x7x7x2048xf32>
  %y = arith.truncf %sums : tensor<1x7x7x2048xf32> to tensor<1x7x7x2048xf16>
  return %y : tensor<1x7x7x2048xf16>
}
