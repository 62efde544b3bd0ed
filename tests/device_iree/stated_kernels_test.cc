// What dispatches of real programs state of themselves, evaluated in double precision, beside what
// code compiled for a CPU makes of them: two readings of one program that share no code generator.
#include <gmock/gmock.h>

#include <map>

#include "device/cpu/kind.h"
#include "device/cpu/target.h"
#include "measure/accuracy.h"
#include "provider/iree/program/prepared_dispatch.h"
#include "provider/iree/program/program.h"
#include "tests/provider_iree/compiler.h"

namespace hone::measure {
namespace {

using testing::Contains;
using testing::HasSubstr;

const std::vector<std::string>& gpu_flags() {
  static const std::vector<std::string> flags{"--iree-hal-target-device=cuda",
                                              "--iree-cuda-target=sm_80"};
  return flags;
}

std::vector<std::string> cpu_flags() {
  std::vector<std::string> flags = iree::host_cpu_flags();
  flags.back() = "--iree-llvmcpu-target-cpu=x86-64";
  flags.emplace_back("--iree-llvmcpu-target-cpu-features=+f16c");
  return flags;
}

problem::Program load(const std::string& text, const std::vector<std::string>& flags) {
  auto program = iree::load_program(iree::compiler(), "test.mlir", text, flags);
  if (!program) throw std::runtime_error(program.error().message);
  return std::move(*program);
}

// By dispatch, of those that state themselves: how exact the code for a CPU is.
std::map<std::string, OutputAccuracy> accuracies(const std::string& text) {
  const problem::Program stated = load(text, gpu_flags()), compiled = load(text, cpu_flags());
  const std::vector<int> cores{device::cpu::available_cores().front()};
  const auto device = device::cpu::open_device(cores).value();
  std::map<std::string, OutputAccuracy> all;
  for (const problem::Dispatch& dispatch : stated.dispatches) {
    const auto same = std::ranges::find_if(compiled.dispatches, [&](const auto& each) {
      return each.name == dispatch.name && each.bindings == dispatch.bindings;
    });
    if (same == compiled.dispatches.end() || !problem::stated(dispatch.statement)) continue;
    auto prepared = iree::PreparedDispatch::create(iree::compiler(), same->source, cpu_flags());
    EXPECT_TRUE(prepared) << prepared.error().message;
    const auto artifact = prepared->compile(std::nullopt);
    EXPECT_TRUE(artifact) << artifact.error().message;
    const auto kernel = device->load(artifact->format, artifact->code,
                                     problem::over_bindings(artifact->launch, dispatch));
    EXPECT_TRUE(kernel) << kernel.error().message;
    const auto told = accuracies_of(*device, {kernel->get()}, dispatch, 1);
    EXPECT_TRUE(told) << dispatch.name << ": " << told.error().message;
    if (told) all[dispatch.name] = told->at(0).at(0);
  }
  return all;
}

// f32 sums of f16 products round less than f16 shows: most are exact. Where gelu is near zero it is
// a difference of nearly equal numbers, and some steps of a small f16 are lost.
TEST(StatedKernels, ProductsAreComputedAsStated) {
  const auto all = accuracies(R"(
func.func @main(%a: tensor<70x96xf16>, %b: tensor<96x130xf16>, %bias: tensor<130xf32>) -> tensor<70x130xf16> {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %root = arith.constant 0.70710678 : f32
  %e = tensor.empty() : tensor<70x130xf32>
  %e16 = tensor.empty() : tensor<70x130xf16>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<70x130xf32>) -> tensor<70x130xf32>
  %c = linalg.matmul ins(%a, %b : tensor<70x96xf16>, tensor<96x130xf16>) outs(%f : tensor<70x130xf32>) -> tensor<70x130xf32>
  %d = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%c, %bias : tensor<70x130xf32>, tensor<130xf32>) outs(%e16 : tensor<70x130xf16>) {
    ^bb0(%x: f32, %y: f32, %out: f16):
      %s = arith.addf %x, %y : f32
      %r = arith.mulf %s, %root : f32
      %g = math.erf %r : f32
      %h = arith.addf %g, %one : f32
      %p = arith.mulf %s, %h : f32
      %q = arith.mulf %p, %half : f32
      %t = arith.truncf %q : f32 to f16
      linalg.yield %t : f16
  } -> tensor<70x130xf16>
  return %d : tensor<70x130xf16>
})");
  ASSERT_EQ(all.size(), 1u);
  const ArrayDifference& difference = all.begin()->second.difference;
  EXPECT_EQ(difference.elements, 70 * 130);
  EXPECT_LE(difference.different, difference.elements / 10);
  EXPECT_LE(difference.largest_ulp, 16);
  EXPECT_LT(difference.largest, 0.01);
}

TEST(StatedKernels, ConvolutionsAreComputedAsStated) {
  const auto all = accuracies(R"(
func.func @main(%x: tensor<2x13x11x24xf32>, %w: tensor<3x3x24x20xf32>) -> tensor<2x6x5x20xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x6x5x20xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x6x5x20xf32>) -> tensor<2x6x5x20xf32>
  %y = linalg.conv_2d_nhwc_hwcf {strides = dense<2> : tensor<2xi64>}
      ins(%x, %w : tensor<2x13x11x24xf32>, tensor<3x3x24x20xf32>) outs(%f : tensor<2x6x5x20xf32>) -> tensor<2x6x5x20xf32>
  return %y : tensor<2x6x5x20xf32>
})");
  ASSERT_EQ(all.size(), 1u);
  const ArrayDifference& difference = all.begin()->second.difference;
  EXPECT_EQ(difference.elements, 2 * 6 * 5 * 20);
  // Sums of 216 products in single precision: some steps off, of elements near 14.
  EXPECT_GT(difference.different, 0);
  EXPECT_LT(difference.largest, 1e-4);
}

TEST(StatedKernels, AttentionIsComputedAsStated) {
  const auto all = accuracies(R"(
func.func @main(%q: tensor<2x48x32xf16>, %k: tensor<2x40x32xf16>, %v: tensor<2x40x24xf16>) -> tensor<2x48x24xf16> {
  %scale = arith.constant 0.17677 : f16
  %e = tensor.empty() : tensor<2x48x24xf16>
  %o = iree_linalg_ext.attention <{indexing_maps = [
      affine_map<(b, m, n, k1, k2) -> (b, m, k1)>, affine_map<(b, m, n, k1, k2) -> (b, k2, k1)>,
      affine_map<(b, m, n, k1, k2) -> (b, k2, n)>, affine_map<(b, m, n, k1, k2) -> ()>,
      affine_map<(b, m, n, k1, k2) -> (b, m, n)>]}>
      ins(%q, %k, %v, %scale : tensor<2x48x32xf16>, tensor<2x40x32xf16>, tensor<2x40x24xf16>, f16)
      outs(%e : tensor<2x48x24xf16>) {
    ^bb0(%s: f32): iree_linalg_ext.yield %s : f32
  } -> tensor<2x48x24xf16>
  return %o : tensor<2x48x24xf16>
})");
  ASSERT_EQ(all.size(), 1u);
  const ArrayDifference& difference = all.begin()->second.difference;
  EXPECT_EQ(difference.elements, 2 * 48 * 24);
  EXPECT_LT(difference.largest, 0.01);
}

// Each row by the root of its mean square, and a matrix transposed, with a bias for each row.
TEST(StatedKernels, ElementsAndReductionsAreComputedAsStated) {
  const auto all = accuracies(R"(
#ij = affine_map<(i, j) -> (i, j)>
#ji = affine_map<(i, j) -> (j, i)>
#i = affine_map<(i, j) -> (i)>
func.func @main(%x: tensor<33x127xf32>) -> (tensor<33x127xf32>, tensor<33xf32>) {
  %zero = arith.constant 0.0 : f32
  %count = arith.constant 127.0 : f32
  %row = tensor.empty() : tensor<33xf32>
  %e = tensor.empty() : tensor<33x127xf32>
  %f = linalg.fill ins(%zero : f32) outs(%row : tensor<33xf32>) -> tensor<33xf32>
  %squares = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<33x127xf32>) outs(%f : tensor<33xf32>) {
    ^bb0(%a: f32, %out: f32):
      %q = arith.mulf %a, %a : f32
      %s = arith.addf %out, %q : f32
      linalg.yield %s : f32
  } -> tensor<33xf32>
  %y = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%x, %squares : tensor<33x127xf32>, tensor<33xf32>) outs(%e : tensor<33x127xf32>) {
    ^bb0(%a: f32, %q: f32, %out: f32):
      %m = arith.divf %q, %count : f32
      %r = math.rsqrt %m : f32
      %s = arith.mulf %a, %r : f32
      linalg.yield %s : f32
  } -> tensor<33x127xf32>
  return %y, %squares : tensor<33x127xf32>, tensor<33xf32>
}
func.func @turned(%x: tensor<33x127xf32>, %bias: tensor<127xf32>) -> tensor<127x33xf32> {
  %e = tensor.empty() : tensor<127x33xf32>
  %y = linalg.generic {indexing_maps = [#ji, #i, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%x, %bias : tensor<33x127xf32>, tensor<127xf32>) outs(%e : tensor<127x33xf32>) {
    ^bb0(%a: f32, %b: f32, %out: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
  } -> tensor<127x33xf32>
  return %y : tensor<127x33xf32>
})");
  ASSERT_GE(all.size(), 2u);
  for (const auto& [name, accuracy] : all) {
    EXPECT_GE(accuracy.difference.elements, 33) << name;
    // Sums of 127 squares of up to 1 in single precision.
    EXPECT_LT(accuracy.difference.largest, 1e-4) << name;
    if (name.find("turned") != std::string::npos) {
      EXPECT_EQ(accuracy.difference.different, 0);
    }
  }
}

}  // namespace
}  // namespace hone::measure
