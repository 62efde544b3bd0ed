#include "provider/iree/program/program.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/provider_iree/compiler.h"

namespace hone::iree {
namespace {

using problem::Access;
using problem::BindingUse;
using problem::Dispatch;
using problem::ElementType;
using problem::Function;
using problem::Loop;
using problem::LoopRole;
using problem::OperationKind;
using problem::TensorType;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TensorType f32(std::vector<std::int64_t> shape) {
  return {ElementType::kF32, std::move(shape)};
}
TensorType f16(std::vector<std::int64_t> shape) {
  return {ElementType::kF16, std::move(shape)};
}

std::vector<Loop> matmul_loops(std::int64_t m, std::int64_t n, std::int64_t k) {
  return {{false, m, LoopRole::kM}, {false, n, LoopRole::kN}, {true, k, LoopRole::kK}};
}

TEST(LoadProgram, DescribesAMatmul) {
  const problem::Program program = load("matmul_512.mlir", example("matmul_512.mlir"));
  EXPECT_THAT(
      program.functions,
      ElementsAre(Function{"matmul_512", {f32({512, 512}), f32({512, 512})}, {f32({512, 512})}}));
  ASSERT_EQ(program.dispatches.size(), 1u);
  const Dispatch& dispatch = program.dispatches[0];
  EXPECT_EQ(dispatch.name, "matmul_512_dispatch_0_matmul_512x512x512_f32");
  EXPECT_EQ(dispatch.executable, "matmul_512_dispatch_0");
  EXPECT_EQ(dispatch.root.kind, OperationKind::kMatmul);
  EXPECT_EQ(dispatch.root.name, "linalg.matmul");
  EXPECT_EQ(dispatch.root.loops, matmul_loops(512, 512, 512));
  EXPECT_THAT(dispatch.root.operands, ElementsAre(problem::Operand{f32({512, 512}), {0, 2}, false},
                                                  problem::Operand{f32({512, 512}), {2, 1}, false},
                                                  problem::Operand{f32({512, 512}), {0, 1}, true}));
  EXPECT_EQ(dispatch.root_operations, 1);
  EXPECT_THAT(dispatch.fused, ElementsAre("fill"));
  EXPECT_EQ(flop_count(dispatch.root), 2.0 * 512 * 512 * 512);
  EXPECT_EQ(byte_count(dispatch.root), 3.0 * 512 * 512 * 4);
  EXPECT_EQ(dispatch.launches_per_call, 1);
  EXPECT_THAT(dispatch.constants, IsEmpty());
  EXPECT_EQ(dispatch.not_tunable, "");
  EXPECT_EQ(dispatch.default_translation, kDoubleTiling);
  // IREE 3.13's choice.
  EXPECT_EQ(dispatch.default_configuration,
            "#iree_cpu.lowering_config<distribution = [64, 64, 0], "
            "vector_common_parallel = [8, 16, 0], vector_reduction = [0, 0, 16]>");
  ASSERT_EQ(dispatch.bindings.size(), 3u);
  EXPECT_EQ(dispatch.bindings[1], (problem::Binding{Access::kReadOnly, BindingUse::kRootInput,
                                                    f32({512, 512}), 512 * 512 * 4}));
  EXPECT_EQ(dispatch.bindings[2], (problem::Binding{Access::kWriteOnly, BindingUse::kOutput,
                                                    f32({512, 512}), 512 * 512 * 4}));
}

TEST(LoadProgram, TellsFusedOperandsFromThoseOfTheRoot) {
  const problem::Program program = load("feed_forward.mlir", example("feed_forward.mlir"));
  ASSERT_EQ(program.dispatches.size(), 2u);
  const Dispatch& up = program.dispatches[0];
  EXPECT_EQ(up.root.loops, matmul_loops(128, 3072, 768));
  EXPECT_THAT(up.fused, ElementsAre("fill", "elementwise(arith.addf, arith.mulf, math.erf)"));
  ASSERT_EQ(up.bindings.size(), 4u);
  EXPECT_EQ(up.bindings[0].use, BindingUse::kRootInput);
  EXPECT_EQ(up.bindings[1].use, BindingUse::kRootInput);
  EXPECT_EQ(up.bindings[2],
            (problem::Binding{Access::kReadOnly, BindingUse::kFusedInput, f32({3072}), 3072 * 4}));
  EXPECT_EQ(up.bindings[3].use, BindingUse::kOutput);
  const Dispatch& down = program.dispatches[1];
  EXPECT_EQ(down.root.loops, matmul_loops(128, 768, 3072));
  EXPECT_THAT(down.fused, ElementsAre("fill", "elementwise(arith.addf)"));
}

TEST(LoadProgram, ReadsASumBehindAMatmul) {
  const problem::Program program = load("matmul_row_sum.mlir", example("matmul_row_sum.mlir"));
  ASSERT_EQ(program.dispatches.size(), 2u);
  const Dispatch& matmul = program.dispatches[0];
  EXPECT_EQ(matmul.root.loops, matmul_loops(32, 2048, 1024));
  EXPECT_EQ(matmul.root.operands[0].type, f16({32, 1024}));
  EXPECT_EQ(matmul.root.operands[2].type, f32({32, 2048}));
  EXPECT_EQ(matmul.not_tunable, "");
  const Dispatch& sum = program.dispatches[1];
  EXPECT_EQ(sum.root.kind, OperationKind::kReduction);
  EXPECT_THAT(sum.root.loops,
              ElementsAre(Loop{false, 32, LoopRole::kOther}, Loop{true, 2048, LoopRole::kOther}));
  EXPECT_EQ(sum.not_tunable, "");
}

TEST(LoadProgram, NamesWhatItCannotTuneAndWhy) {
  std::vector<std::string> flags = avx512_flags();
  flags.emplace_back("--iree-opt-data-tiling");
  const problem::Program program = load("matmul_512.mlir", example("matmul_512.mlir"), flags);
  ASSERT_EQ(program.dispatches.size(), 3u);  // the product, and a packing of each operand
  for (const Dispatch& dispatch : program.dispatches)
    EXPECT_THAT(dispatch.not_tunable, HasSubstr("data tiling"));
}

TEST(LoadProgram, ReadsMixedPrecision) {
  const problem::Program program = load("matmul_f16.mlir", example("matmul_f16.mlir"));
  ASSERT_EQ(program.dispatches.size(), 1u);
  EXPECT_EQ(describe(program.dispatches[0].root), "matmul 2048x1280x1280 f16,f16->f32");
  EXPECT_EQ(byte_count(program.dispatches[0].root),
            2048.0 * 1280 * 2 + 1280.0 * 1280 * 2 + 2048.0 * 1280 * 4);
}

constexpr char kTransposed[] = R"(
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @transposed(%a: tensor<128x512xf32>, %b: tensor<256x512xf32>) -> tensor<128x256xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x256xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<128x256xf32>) -> tensor<128x256xf32>
  %r = linalg.matmul indexing_maps = [#a, #b, #c]
      ins(%a, %b : tensor<128x512xf32>, tensor<256x512xf32>)
      outs(%f : tensor<128x256xf32>) -> tensor<128x256xf32>
  return %r : tensor<128x256xf32>
}
func.func @sum(%x: tensor<1024xf32>, %y: tensor<1024xf32>) -> tensor<1024xf32> {
  %s = arith.addf %x, %y : tensor<1024xf32>
  return %s : tensor<1024xf32>
})";

TEST(LoadProgram, TakesLayoutsFromIndexingMapsAndSeveralFunctions) {
  const problem::Program program = load("transposed.mlir", kTransposed);
  ASSERT_EQ(program.functions.size(), 2u);
  EXPECT_EQ(program.functions[1].name, "sum");
  ASSERT_EQ(program.dispatches.size(), 2u);
  const Dispatch& transposed = program.dispatches[0];
  EXPECT_EQ(transposed.root.loops, matmul_loops(128, 256, 512));
  EXPECT_THAT(transposed.root.operands[1].loops, ElementsAre(1, 2));
  EXPECT_THAT(describe(transposed.root), HasSubstr(" tb"));
  EXPECT_EQ(program.dispatches[1].root.kind, OperationKind::kElementwise);
}

constexpr char kOpenRows[] = R"(
func.func @dynamic(%a: tensor<?x512xf32>, %b: tensor<512x256xf32>) -> tensor<?x256xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %m = tensor.dim %a, %c0 : tensor<?x512xf32>
  %e = tensor.empty(%m) : tensor<?x256xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x256xf32>) -> tensor<?x256xf32>
  %r = linalg.matmul ins(%a, %b : tensor<?x512xf32>, tensor<512x256xf32>)
                     outs(%f : tensor<?x256xf32>) -> tensor<?x256xf32>
  return %r : tensor<?x256xf32>
})";

TEST(LoadProgram, SaysHowToGiveASizeThatIsOpen) {
  const problem::Program program = load("dynamic.mlir", kOpenRows);
  ASSERT_EQ(program.dispatches.size(), 1u);
  const Dispatch& dispatch = program.dispatches[0];
  std::vector<problem::Loop> loops = matmul_loops(problem::kDynamic, 256, 512);
  loops[0].open = true;
  EXPECT_EQ(dispatch.root.loops, loops);
  EXPECT_EQ(dispatch.not_tunable,
            "dynamic shape: loop 0 of linalg.matmul has a size known only at run time, and hone "
            "measures one size: --dim M=SIZE (or input0.0=SIZE)");
  EXPECT_EQ(flop_count(dispatch.root), 0);
}

// The compiler binds operands in the order in which the kernel reads them, whatever the function's.
TEST(LoadProgram, SaysWhichArgumentABindingIs) {
  const auto product_of = [](const char* lhs, const char* rhs) {
    return fmt::format(R"(func.func @main(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>)
    -> tensor<64x64xf32> {{
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x64xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  %y = linalg.matmul ins({}, {} : tensor<64x64xf32>, tensor<64x64xf32>)
                     outs(%fill : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}})",
                       lhs, rhs);
  };
  EXPECT_THAT(load("p.mlir", product_of("%a", "%b")).dispatches.at(0).arguments,
              ElementsAre(0, 1, -1));
  EXPECT_THAT(load("p.mlir", product_of("%b", "%a")).dispatches.at(0).arguments,
              ElementsAre(1, 0, -1));
}

problem::Program load_with(const problem::SizeSet& sizes) {
  auto program =
      load_program(compiler(), "dynamic.mlir", kOpenRows, avx512_flags(), {.sizes = sizes});
  if (!program) throw std::runtime_error(program.error().message);
  return std::move(*program);
}

// IREE passes an index as two 32-bit words.
TEST(LoadProgram, LaunchesWithTheSizeThatWasGiven) {
  const problem::Program program = load_with({{"M", 384}});
  ASSERT_EQ(program.dispatches.size(), 1u);
  const Dispatch& dispatch = program.dispatches[0];
  EXPECT_EQ(dispatch.not_tunable, "");
  EXPECT_THAT(dispatch.constants, ElementsAre(384, 0));
  EXPECT_EQ(describe(dispatch.root), "matmul 384?x256x512 f32,f32->f32");
  EXPECT_EQ(flop_count(dispatch.root), 2.0 * 384 * 256 * 512);
  ASSERT_EQ(dispatch.bindings.size(), 3u);
  EXPECT_EQ(dispatch.bindings[0].bytes, 384 * 512 * 4);
  EXPECT_EQ(dispatch.bindings[2].bytes, 384 * 256 * 4);
  EXPECT_THAT(dispatch.root_bindings, ElementsAre(0, 1, 2));
  EXPECT_EQ(to_string(program.functions.at(0).inputs.at(0)), "384x512xf32");
}

TEST(LoadProgram, TakesASizeByTheArgumentToo) {
  EXPECT_EQ(load_with({{"input0.0", 384}}).dispatches, load_with({{"M", 384}}).dispatches);
}

// The store tells dispatches apart by their source.
TEST(LoadProgram, MakesTwoDispatchesOfTwoSizes) {
  EXPECT_NE(fingerprint(load_with({{"M", 384}}).dispatches.at(0)),
            fingerprint(load_with({{"M", 16}}).dispatches.at(0)));
}

TEST(LoadProgram, RefusesASizeThatIsNotOpen) {
  const auto program =
      load_program(compiler(), "dynamic.mlir", kOpenRows, avx512_flags(), {.sizes = {{"N", 256}}});
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().kind, ErrorKind::kInput);
  EXPECT_THAT(program.error().message,
              HasSubstr("--dim N=256: the program has no such size; it leaves open: M (input0.0)"));
  const auto closed = load_program(compiler(), "matmul_512.mlir", example("matmul_512.mlir"),
                                   avx512_flags(), {.sizes = {{"M", 512}}});
  ASSERT_FALSE(closed);
  EXPECT_EQ(closed.error().message, "--dim M=512: the program leaves no size open");
}

// Blocks of 64 rows and 64 columns: 6 x 4 workgroups for 384 rows, 1 x 4 for 16.
TEST(LoadProgram, LetsTheNumberOfWorkgroupsFollow) {
  const Attributes attributes{
      "#iree_cpu.lowering_config<distribution = [64, 64, 0], vector_common_parallel = [8, 16, 0], "
      "vector_reduction = [0, 0, 16]>",
      kDoubleTiling};
  for (const auto& [size, workgroups] : {std::pair(384, 24u), std::pair(16, 4u)}) {
    const problem::Program program = load_with({{"M", size}});
    const auto artifact = prepare(program.dispatches.at(0)).compile(attributes);
    ASSERT_TRUE(artifact) << artifact.error().message;
    EXPECT_EQ(artifact->launch.grid[0] * artifact->launch.grid[1] * artifact->launch.grid[2],
              workgroups);
    EXPECT_THAT(artifact->launch.constants, ElementsAre(size, 0));
  }
}

TEST(LoadProgram, AcceptsAProgramWithoutDispatches) {
  const problem::Program program =
      load("identity.mlir",
           "func.func @identity(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }");
  EXPECT_THAT(program.dispatches, IsEmpty());
  EXPECT_EQ(program.functions.size(), 1u);
}

TEST(LoadProgram, SaysWhereASyntaxErrorIs) {
  const auto program = load_program(compiler(), "bad.mlir",
                                    "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
                                    "  %y = arith.addq %x, %x : tensor<4xf32>\n"
                                    "  return %y : tensor<4xf32>\n}\n",
                                    avx512_flags());
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().kind, ErrorKind::kInput);
  EXPECT_THAT(program.error().message, HasSubstr("bad.mlir:2:8: custom op 'arith.addq'"));
}

TEST(LoadProgram, NamesAnUnknownFlag) {
  const auto program = load_program(compiler(), "x.mlir", "module {}", {"--iree-no-such-flag"});
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().kind, ErrorKind::kInput);
  EXPECT_THAT(program.error().message, HasSubstr("option not found: iree-no-such-flag"));
}

}  // namespace
}  // namespace hone::iree
