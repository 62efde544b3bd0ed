// fault: half of the sums of an f16 product are wrong if the first operand is the one read by columns
// flags: --iree-hal-target-device=cuda --iree-cuda-target=sm_80
// input: 64x3136xf16 = (i % 3 + 1) * (j % 5 - 2)
// input: 256x64xf16 = (j % 2 + 1) * (i % 7 - 3)
// The sum of (k % 3 + 1) * (k % 2 + 1) over 64 k is 190.
// fixed if: results are 256x3136xf16 = 190 * (j % 5 - 2) * (i % 7 - 3)
func.func @main(%a: tensor<64x3136xf16>, %b: tensor<256x64xf16>) -> tensor<256x3136xf16> {
  %zero = arith.constant 0.0 : f16
  %empty = tensor.empty() : tensor<256x3136xf16>
  %fill = linalg.fill ins(%zero : f16) outs(%empty : tensor<256x3136xf16>) -> tensor<256x3136xf16>
  %c = linalg.generic {iterator_types = ["parallel", "parallel", "reduction"],
      indexing_maps = [affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, k)>,
        affine_map<(i, j, k) -> (i, j)>]}
      ins(%a, %b : tensor<64x3136xf16>, tensor<256x64xf16>) outs(%fill : tensor<256x3136xf16>) {
  ^bb0(%x: f16, %y: f16, %sum: f16):
    %p = arith.mulf %x, %y : f16
    %s = arith.addf %sum, %p : f16
    linalg.yield %s : f16
  } -> tensor<256x3136xf16>
  return %c : tensor<256x3136xf16>
}
