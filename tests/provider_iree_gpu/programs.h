// Programs of one dispatch for GPU targets, and what the compiler states for them.
#pragma once

#include <fmt/format.h>

#include <string>

#include "provider/iree/gpu/constraint_reader.h"
#include "tests/provider_iree/compiler.h"

namespace hone::iree::gpu {

inline std::vector<std::string> flags_for(const std::string& arch) {
  return gpu_flags(*problem::gpu_target(arch));
}

inline std::string matmul(int m, int n, int k, const std::string& in = "f16",
                          const std::string& out = "f32", bool transpose_b = false) {
  const std::string a = fmt::format("tensor<{}x{}x{}>", m, k, in);
  const std::string b = transpose_b ? fmt::format("tensor<{}x{}x{}>", n, k, in)
                                    : fmt::format("tensor<{}x{}x{}>", k, n, in);
  const std::string c = fmt::format("tensor<{}x{}x{}>", m, n, out);
  const std::string maps = transpose_b
                               ? " indexing_maps = [affine_map<(m, n, k) -> (m, k)>, "
                                 "affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]"
                               : "";
  return fmt::format(R"(
func.func @main(%a: {0}, %b: {1}) -> {2} {{
  %z = arith.constant 0.0 : {3}
  %e = tensor.empty() : {2}
  %f = linalg.fill ins(%z : {3}) outs(%e : {2}) -> {2}
  %r = linalg.matmul{4} ins(%a, %b : {0}, {1}) outs(%f : {2}) -> {2}
  return %r : {2}
}})",
                     a, b, c, out, maps);
}

inline std::string batch_matmul(int b, int m, int n, int k) {
  const std::string lhs = fmt::format("tensor<{}x{}x{}xf16>", b, m, k);
  const std::string rhs = fmt::format("tensor<{}x{}x{}xf16>", b, k, n);
  const std::string out = fmt::format("tensor<{}x{}x{}xf32>", b, m, n);
  return fmt::format(R"(
func.func @main(%a: {0}, %b: {1}) -> {2} {{
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : {2}
  %f = linalg.fill ins(%z : f32) outs(%e : {2}) -> {2}
  %r = linalg.batch_matmul ins(%a, %b : {0}, {1}) outs(%f : {2}) -> {2}
  return %r : {2}
}})",
                     lhs, rhs, out);
}

// `size` x `size` outputs of a 3x3 filter.
inline std::string convolution(bool nchw, int batch, int size, int input, int output) {
  const int padded = size + 2;
  const auto image = [&](int extent, int channels, const char* type) {
    return nchw ? fmt::format("tensor<{}x{}x{}x{}x{}>", batch, channels, extent, extent, type)
                : fmt::format("tensor<{}x{}x{}x{}x{}>", batch, extent, extent, channels, type);
  };
  const std::string filter = nchw ? fmt::format("tensor<{}x{}x3x3xf16>", output, input)
                                  : fmt::format("tensor<3x3x{}x{}xf16>", input, output);
  return fmt::format(R"(
func.func @main(%a: {0}, %b: {1}) -> {2} {{
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : {2}
  %f = linalg.fill ins(%z : f32) outs(%e : {2}) -> {2}
  %r = linalg.{3} ins(%a, %b : {0}, {1}) outs(%f : {2}) -> {2}
  return %r : {2}
}})",
                     image(padded, input, "f16"), filter, image(size, output, "f32"),
                     nchw ? "conv_2d_nchw_fchw" : "conv_2d_nhwc_hwcf");
}

inline std::string attention(int batch, int length, int head) {
  return fmt::format(R"(
func.func @main(%q: {0}, %k: {0}, %v: {0}) -> {0} {{
  %scale = arith.constant 0.125 : f16
  %e = tensor.empty() : {0}
  %r = iree_linalg_ext.attention <{{indexing_maps = [
      affine_map<(b, m, n, k1, k2) -> (b, m, k1)>, affine_map<(b, m, n, k1, k2) -> (b, k2, k1)>,
      affine_map<(b, m, n, k1, k2) -> (b, k2, n)>, affine_map<(b, m, n, k1, k2) -> ()>,
      affine_map<(b, m, n, k1, k2) -> (b, m, n)>]}}>
      ins(%q, %k, %v, %scale : {0}, {0}, {0}, f16) outs(%e : {0}) {{
    ^bb0(%score: f32):
      iree_linalg_ext.yield %score : f32
  }} -> {0}
  return %r : {0}
}})",
                     fmt::format("tensor<{}x{}x{}xf16>", batch, length, head));
}

// One linalg.generic over `loops` ("i, j") of one input, with the body given; sums start from 0.
inline std::string generic(const std::string& in, const std::string& in_map, const std::string& out,
                           const std::string& out_map, const std::string& loops,
                           const std::string& iterators, const std::string& body) {
  const bool reduces = iterators.find("reduction") != std::string::npos;
  const std::string element = out.substr(out.rfind('x') + 1);
  return fmt::format(R"(
func.func @main(%a: tensor<{0}>) -> tensor<{2}> {{
  %z = arith.constant 0.0 : {6}
  %e = tensor.empty() : tensor<{2}>
  %f = linalg.fill ins(%z : {6}) outs(%e : tensor<{2}>) -> tensor<{2}>
  %r = linalg.generic {{indexing_maps = [affine_map<({4}) -> ({1})>, affine_map<({4}) -> ({3})>],
                       iterator_types = [{5}]}}
      ins(%a : tensor<{0}>) outs({8} : tensor<{2}>) {{
    ^bb0(%x: {9}, %y: {6}):
      {7}
      linalg.yield %s : {6}
  }} -> tensor<{2}>
  return %r : tensor<{2}>
}})",
                     in, in_map, out, out_map, loops, iterators, element, body,
                     reduces ? "%f" : "%e", in.substr(in.rfind('x') + 1));
}

inline constexpr char kSum[] = "%s = arith.addf %x, %y : f32";
inline constexpr char kParallel[] = "\"parallel\"";
inline constexpr char kReduction[] = "\"reduction\"";

inline std::string row_sum(int rows, int columns) {
  return generic(fmt::format("{}x{}xf32", rows, columns), "i, j", fmt::format("{}xf32", rows), "i",
                 "i, j", fmt::format("{}, {}", kParallel, kReduction), kSum);
}
inline std::string column_sum(int rows, int columns) {
  return generic(fmt::format("{}x{}xf32", rows, columns), "j, i", fmt::format("{}xf32", columns),
                 "i", "i, j", fmt::format("{}, {}", kParallel, kReduction), kSum);
}
// The sum of each channel over the batch and the image.
inline std::string channel_sum(int batch, int channels, int image) {
  return generic(fmt::format("{}x{}x{}xf32", batch, channels, image), "b, c, i",
                 fmt::format("{}xf32", channels), "c", "c, b, i",
                 fmt::format("{}, {}, {}", kParallel, kReduction, kReduction), kSum);
}
inline std::string elementwise(int rows, int columns) {
  return generic(fmt::format("{}x{}xf32", rows, columns), "i, j",
                 fmt::format("{}x{}xf16", rows, columns), "i, j", "i, j",
                 fmt::format("{}, {}", kParallel, kParallel),
                 "%t = math.erf %x : f32\n      %s = arith.truncf %t : f32 to f16");
}
inline std::string transpose(int rows, int columns) {
  return fmt::format(R"(
func.func @main(%a: tensor<{0}x{1}xf32>) -> tensor<{1}x{0}xf32> {{
  %e = tensor.empty() : tensor<{1}x{0}xf32>
  %r = linalg.transpose ins(%a : tensor<{0}x{1}xf32>) outs(%e : tensor<{1}x{0}xf32>)
      permutation = [1, 0]
  return %r : tensor<{1}x{0}xf32>
}})",
                     rows, columns);
}
inline std::string softmax(int rows, int columns) {
  return fmt::format(R"(
func.func @main(%a: {0}) -> {0} {{
  %e = tensor.empty() : {0}
  %r = linalg.softmax dimension(1) ins(%a : {0}) outs(%e : {0}) -> {0}
  return %r : {0}
}})",
                     fmt::format("tensor<{}x{}xf32>", rows, columns));
}
// Rows divided by their sums: one dispatch, whose root is the sum.
inline std::string normalised_rows(int rows, int columns) {
  return fmt::format(R"(
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @main(%a: {0}) -> {0} {{
  %z = arith.constant 0.0 : f32
  %er = tensor.empty() : {1}
  %e = tensor.empty() : {0}
  %f = linalg.fill ins(%z : f32) outs(%er : {1}) -> {1}
  %s = linalg.generic {{indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}}
      ins(%a : {0}) outs(%f : {1}) {{
    ^bb0(%x: f32, %y: f32):
      %t = arith.addf %x, %y : f32
      linalg.yield %t : f32
  }} -> {1}
  %r = linalg.generic {{indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}}
      ins(%a, %s : {0}, {1}) outs(%e : {0}) {{
    ^bb0(%x: f32, %y: f32, %u: f32):
      %t = arith.divf %x, %y : f32
      linalg.yield %t : f32
  }} -> {0}
  return %r : {0}
}})",
                     fmt::format("tensor<{}x{}xf32>", rows, columns),
                     fmt::format("tensor<{}xf32>", rows));
}
inline std::string matvec(int rows, int columns) {
  return fmt::format(R"(
func.func @main(%a: {0}, %b: {1}) -> {2} {{
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : {2}
  %f = linalg.fill ins(%z : f32) outs(%e : {2}) -> {2}
  %r = linalg.matvec ins(%a, %b : {0}, {1}) outs(%f : {2}) -> {2}
  return %r : {2}
}})",
                     fmt::format("tensor<{}x{}xf16>", rows, columns),
                     fmt::format("tensor<{}xf16>", columns), fmt::format("tensor<{}xf32>", rows));
}

inline problem::Dispatch dispatch_of(const std::string& program, const std::string& arch) {
  problem::Program loaded = load("gpu.mlir", program, flags_for(arch));
  return std::move(loaded.dispatches.back());
}

inline StatedSpace stated(const problem::Dispatch& dispatch, const std::string& arch) {
  auto space = stated_constraints(compiler(), "dispatch", dispatch.source, flags_for(arch));
  if (!space) throw std::runtime_error(space.error().message);
  return std::move(*space);
}

}  // namespace hone::iree::gpu
