// Programs whose dispatches one entry of a spec can be taken for another's: what broke real models.
#pragma once

#include <string>

namespace hone::iree {

// As in an encoder: a product, and the same product with a bias fused behind it. A tile of
// 128 x 256 numbers of f32 serves the first; of the second it makes a stack of 131072 bytes, where
// IREE allows 32768.
inline std::string product_with_and_without_bias() {
  return R"(
#id = affine_map<(b, m, n) -> (b, m, n)>
#row = affine_map<(b, m, n) -> (n)>
!a = tensor<1x128x768xf32>
!w = tensor<1x768x768xf32>
func.func @two(%a: !a, %w: !w, %v: !w, %b: tensor<768xf32>) -> (!a, !a) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : !a
  %f = linalg.fill ins(%zero : f32) outs(%e : !a) -> !a
  %p = linalg.batch_matmul ins(%a, %w : !a, !w) outs(%f : !a) -> !a
  %q = linalg.batch_matmul ins(%a, %v : !a, !w) outs(%f : !a) -> !a
  %z = linalg.generic {indexing_maps = [#id, #row, #id],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%q, %b : !a, tensor<768xf32>) outs(%e : !a) {
  ^bb0(%s: f32, %t: f32, %o: f32):
    %u = arith.addf %s, %t : f32
    linalg.yield %u : f32
  } -> !a
  return %p, %z : !a, !a
})";
}

// As in a ResNet or a MobileNet: bias and relu by themselves, and behind a product. An entry for
// the first and one for the product both find an operation in the second dispatch, which IREE
// refuses: "multiple ops within dispatch trying to set the translation info".
inline std::string elementwise_alone_and_behind_a_product() {
  return R"(
#id = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (n)>
!x = tensor<256x512xf32>
!b = tensor<512xf32>
func.func @two(%x: !x, %b: !b, %a: tensor<256x64xf32>, %w: tensor<64x512xf32>) -> (!x, !x) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : !x
  %y = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %b : !x, !b) outs(%e : !x) {
  ^bb0(%s: f32, %t: f32, %o: f32):
    %u = arith.addf %s, %t : f32
    %r = arith.maximumf %u, %zero : f32
    linalg.yield %r : f32
  } -> !x
  %f = linalg.fill ins(%zero : f32) outs(%e : !x) -> !x
  %p = linalg.matmul ins(%a, %w : tensor<256x64xf32>, tensor<64x512xf32>) outs(%f : !x) -> !x
  %z = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p, %b : !x, !b) outs(%e : !x) {
  ^bb0(%s: f32, %t: f32, %o: f32):
    %u = arith.addf %s, %t : f32
    %r = arith.maximumf %u, %zero : f32
    linalg.yield %r : f32
  } -> !x
  return %y, %z : !x, !x
})";
}

}  // namespace hone::iree
