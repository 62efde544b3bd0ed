// Convolutions filled by hand, and as programs.
#pragma once

#include <string>

#include "problem/operation.h"

namespace hone::iree {

// Loops (n, oh, ow, f, kh, kw, c): image nhwc, filter hwcf, stride 1.
inline problem::Operation nhwc_convolution(std::int64_t n, std::int64_t oh, std::int64_t ow,
                                           std::int64_t f, std::int64_t kh, std::int64_t kw,
                                           std::int64_t c) {
  problem::Operation root;
  root.kind = problem::OperationKind::kConvolution;
  root.name = "linalg.generic";
  root.loops = {{false, n}, {false, oh}, {false, ow}, {false, f},
                {true, kh}, {true, kw},  {true, c}};
  const auto f32 = problem::ElementType::kF32;
  root.operands = {{{f32, {n, oh + kh - 1, ow + kw - 1, c}}, {0, -1, -1, 6}, false},
                   {{f32, {kh, kw, c, f}}, {4, 5, 6, 3}, false},
                   {{f32, {n, oh, ow, f}}, {0, 1, 2, 3}, true}};
  return root;
}

// Loops (n, oh, ow, c, kh, kw): image nhwc, filter hwc, stride 1.
inline problem::Operation depthwise_convolution(std::int64_t n, std::int64_t oh, std::int64_t ow,
                                                std::int64_t c, std::int64_t kh, std::int64_t kw) {
  problem::Operation root;
  root.kind = problem::OperationKind::kConvolution;
  root.name = "linalg.generic";
  root.loops = {{false, n}, {false, oh}, {false, ow}, {false, c}, {true, kh}, {true, kw}};
  const auto f32 = problem::ElementType::kF32;
  root.operands = {{{f32, {n, oh + kh - 1, ow + kw - 1, c}}, {0, -1, -1, 3}, false},
                   {{f32, {kh, kw, c}}, {4, 5, 3}, false},
                   {{f32, {n, oh, ow, c}}, {0, 1, 2, 3}, true}};
  return root;
}

struct ConvolutionProgram {
  std::string name;  // letters, digits and underscores
  std::string text;  // MLIR, one function of one convolution over a zero fill
};

// `operation`: of linalg, with strides and dilations; shapes as in "2x16x16x16xf32".
inline ConvolutionProgram convolution_program(const std::string& name, const std::string& operation,
                                              const std::string& image, const std::string& filter,
                                              const std::string& output, int stride = 1,
                                              int dimensions = 2) {
  const bool integers = output.ends_with("i32");
  const std::string element = integers ? "i32" : "f32";
  const auto each = [&](int value) {
    return fmt::format("dense<{}> : tensor<{}xi64>", value, dimensions);
  };
  return {name, fmt::format("func.func @main(%x: tensor<{0}>, %w: tensor<{1}>) -> tensor<{2}> {{\n"
                            "  %zero = arith.constant {3} : {4}\n"
                            "  %empty = tensor.empty() : tensor<{2}>\n"
                            "  %fill = linalg.fill ins(%zero : {4}) outs(%empty : tensor<{2}>)\n"
                            "    -> tensor<{2}>\n"
                            "  %y = linalg.{5} {{strides = {6}, dilations = {7}}}\n"
                            "    ins(%x, %w : tensor<{0}>, tensor<{1}>)\n"
                            "    outs(%fill : tensor<{2}>) -> tensor<{2}>\n"
                            "  return %y : tensor<{2}>\n}}\n",
                            image, filter, output, integers ? "0" : "0.0", element, operation,
                            each(stride), each(1))};
}

inline ConvolutionProgram nhwc_program(int images, int stride = 1) {
  const int in = stride == 1 ? 16 : 17, out = stride == 1 ? 14 : 8;
  return convolution_program(fmt::format("nhwc_n{}_s{}", images, stride), "conv_2d_nhwc_hwcf",
                             fmt::format("{0}x{1}x{1}x16xf32", images, in), "3x3x16x32xf32",
                             fmt::format("{0}x{1}x{1}x32xf32", images, out), stride);
}
inline ConvolutionProgram nchw_program(int images) {
  return convolution_program(fmt::format("nchw_n{}", images), "conv_2d_nchw_fchw",
                             fmt::format("{}x16x16x16xf32", images), "32x16x3x3xf32",
                             fmt::format("{}x32x14x14xf32", images));
}
inline ConvolutionProgram depthwise_program(int images) {
  return convolution_program(fmt::format("depthwise_n{}", images), "depthwise_conv_2d_nhwc_hwc",
                             fmt::format("{}x16x16x32xf32", images), "3x3x32xf32",
                             fmt::format("{}x14x14x32xf32", images));
}
inline ConvolutionProgram grouped_program() {
  return convolution_program("grouped", "conv_2d_ngchw_fgchw", "2x4x8x16x16xf32", "8x4x8x3x3xf32",
                             "2x4x8x14x14xf32");
}

}  // namespace hone::iree
