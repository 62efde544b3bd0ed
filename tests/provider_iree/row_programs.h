// Small programs of what is no contraction, one function each.
#pragma once

#include <fmt/format.h>

#include <ostream>
#include <string>
#include <vector>

namespace hone::iree {

struct RowProgram {
  std::string name;
  std::string text;
};

inline std::ostream& operator<<(std::ostream& stream, const RowProgram& program) {
  return stream << program.name;
}

// The sum of a 128x256 array along its rows, or along its columns.
inline std::string sum_program(bool columns = false) {
  return fmt::format(
      R"(func.func @main(%a: tensor<128x256xf32>) -> tensor<{0}xf32> {{
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<{0}xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<{0}xf32>) -> tensor<{0}xf32>
  %r = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ({1})>],
      iterator_types = [{2}]}} ins(%a : tensor<128x256xf32>) outs(%f : tensor<{0}xf32>) {{
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %x, %o : f32
    linalg.yield %s : f32
  }} -> tensor<{0}xf32>
  return %r : tensor<{0}xf32>
}})",
      columns ? 256 : 128, columns ? "j" : "i",
      columns ? "\"reduction\", \"parallel\"" : "\"parallel\", \"reduction\"");
}

inline std::string softmax_program() {
  return R"(func.func @main(%a: tensor<128x256xf32>) -> tensor<128x256xf32> {
  %e = tensor.empty() : tensor<128x256xf32>
  %r = linalg.softmax dimension(1) ins(%a : tensor<128x256xf32>)
      outs(%e : tensor<128x256xf32>) -> tensor<128x256xf32>
  return %r : tensor<128x256xf32>
})";
}

// The second half of a layer norm: squares summed along rows, and what reads the sums.
inline std::string norm_program() {
  return R"(func.func @main(%a: tensor<128x256xf32>, %m: tensor<128xf32>) -> tensor<128x256xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<128xf32>) -> tensor<128xf32>
  %q = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>,
      affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%a, %m : tensor<128x256xf32>, tensor<128xf32>) outs(%f : tensor<128xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %d = arith.subf %x, %y : f32
    %p = arith.mulf %d, %d : f32
    %s = arith.addf %p, %o : f32
    linalg.yield %s : f32
  } -> tensor<128xf32>
  %w = tensor.empty() : tensor<128x256xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>,
      affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%a, %q : tensor<128x256xf32>, tensor<128xf32>) outs(%w : tensor<128x256xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = math.rsqrt %y : f32
    %p = arith.mulf %x, %s : f32
    linalg.yield %p : f32
  } -> tensor<128x256xf32>
  return %r : tensor<128x256xf32>
})";
}

inline std::string elementwise_program() {
  return R"(func.func @main(%a: tensor<128x256xf32>, %b: tensor<128x256xf32>) -> tensor<128x256xf32> {
  %e = tensor.empty() : tensor<128x256xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>,
      affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<128x256xf32>, tensor<128x256xf32>) outs(%e : tensor<128x256xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    %t = math.erf %s : f32
    linalg.yield %t : f32
  } -> tensor<128x256xf32>
  return %r : tensor<128x256xf32>
})";
}

inline std::string transpose_program() {
  return R"(func.func @main(%a: tensor<128x256xf32>) -> tensor<256x128xf32> {
  %e = tensor.empty() : tensor<256x128xf32>
  %r = linalg.transpose ins(%a : tensor<128x256xf32>) outs(%e : tensor<256x128xf32>)
      permutation = [1, 0]
  return %r : tensor<256x128xf32>
})";
}

// Every other column summed.
inline std::string strided_program() {
  return R"(func.func @main(%a: tensor<128x255xf32>) -> tensor<128xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<128xf32>) -> tensor<128xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i * 2)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%a : tensor<128x255xf32>) outs(%f : tensor<128xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %x, %o : f32
    linalg.yield %s : f32
  } -> tensor<128xf32>
  return %r : tensor<128xf32>
})";
}

// Windows copied one beside the other.
inline std::string windows_program() {
  return R"(func.func @main(%x: tensor<64x16x16xf32>) -> tensor<64x3x14x16xf32> {
  %e = tensor.empty() : tensor<64x3x14x16xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(c, r, h, w) -> (c, h + r, w)>,
      affine_map<(c, r, h, w) -> (c, r, h, w)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<64x16x16xf32>) outs(%e : tensor<64x3x14x16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<64x3x14x16xf32>
  return %r : tensor<64x3x14x16xf32>
})";
}

inline std::string attention_program() {
  return R"(func.func @main(%q: tensor<4x64x32xf32>, %k: tensor<4x64x32xf32>, %v: tensor<4x64x32xf32>)
    -> tensor<4x64x32xf32> {
  %scale = arith.constant 0.125 : f32
  %e = tensor.empty() : tensor<4x64x32xf32>
  %r = iree_linalg_ext.attention <{indexing_maps = [
      affine_map<(b, m, n, k1, k2) -> (b, m, k1)>, affine_map<(b, m, n, k1, k2) -> (b, k2, k1)>,
      affine_map<(b, m, n, k1, k2) -> (b, k2, n)>, affine_map<(b, m, n, k1, k2) -> ()>,
      affine_map<(b, m, n, k1, k2) -> (b, m, n)>]}>
      ins(%q, %k, %v, %scale : tensor<4x64x32xf32>, tensor<4x64x32xf32>, tensor<4x64x32xf32>, f32)
      outs(%e : tensor<4x64x32xf32>) {
    ^bb0(%score: f32):
      iree_linalg_ext.yield %score : f32
  } -> tensor<4x64x32xf32>
  return %r : tensor<4x64x32xf32>
})";
}

inline std::vector<RowProgram> row_programs() {
  return {{"RowSum", sum_program()},
          {"ColumnSum", sum_program(true)},
          {"Softmax", softmax_program()},
          {"Norm", norm_program()},
          {"Elementwise", elementwise_program()},
          {"Transpose", transpose_program()},
          {"Strided", strided_program()},
          {"Windows", windows_program()},
          {"Attention", attention_program()}};
}

}  // namespace hone::iree
