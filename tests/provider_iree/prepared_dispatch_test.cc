#include "provider/iree/program/prepared_dispatch.h"

#include <gmock/gmock.h>

#include "provider/iree/compiler/compiler_session.h"
#include "provider/iree/compiler/in_process_linker.h"
#include "tests/provider_iree/compiler.h"

namespace hone::iree {
namespace {

using provider::FailureKind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Attributes tiles(const std::string& lists) {
  return {"#iree_cpu.lowering_config<" + lists + ">", kDoubleTiling};
}

problem::Dispatch matmul_512() {
  return load("matmul_512.mlir", example("matmul_512.mlir")).dispatches.at(0);
}

TEST(PreparedDispatch, CompilesTheConfigurationThatWasAskedFor) {
  PreparedDispatch prepared = prepare(matmul_512());
  const auto artifact =
      prepared.compile(tiles("distribution = [64, 128, 0], vector_common_parallel = [8, 32, 0], "
                             "vector_reduction = [0, 0, 4]"));
  ASSERT_TRUE(artifact) << artifact.error().message;
  EXPECT_EQ(artifact->configured,
            "#iree_cpu.lowering_config<distribution = [64, 128, 0], "
            "vector_common_parallel = [8, 32, 0], vector_reduction = [0, 0, 4]>");
  EXPECT_EQ(artifact->launch.entry, "matmul_512_dispatch_0_matmul_512x512x512_f32");
  EXPECT_EQ(artifact->launch.ordinal, 0);
  // 512/64 x 512/128 workgroups, linear.
  EXPECT_THAT(artifact->launch.grid, ElementsAre(32, 1, 1));
  EXPECT_THAT(artifact->launch.block, ElementsAre(1, 1, 1));
  EXPECT_EQ(artifact->format, "embedded-elf-x86_64");
  EXPECT_EQ(artifact->code.substr(0, 4),
            "\x7f"
            "ELF");
}

TEST(PreparedDispatch, CompilesEachCandidateFromTheSameState) {
  PreparedDispatch prepared = prepare(matmul_512());
  const auto wide = tiles(
      "distribution = [64, 64, 0], vector_common_parallel = [8, 32, 0], "
      "vector_reduction = [0, 0, 1]");
  const auto first = prepared.compile(wide);
  const auto other = prepared.compile(std::nullopt);
  const auto again = prepared.compile(wide);
  ASSERT_TRUE(first && other && again);
  EXPECT_TRUE(first->code != other->code);
  EXPECT_TRUE(first->code == again->code);
  EXPECT_EQ(other->configured, prepared.default_configuration().lowering_config);
}

// The stand-alone module must compile to what the program's own compile gives. The length of the
// file's name moves the code in the binary, so the program is given the one of prepared dispatches.
TEST(PreparedDispatch, CutsTheDispatchOutWithoutChangingItsCode) {
  const auto session = CompilerSession::create(compiler(), avx512_flags());
  ASSERT_TRUE(session);
  Invocation whole(*session);
  ASSERT_TRUE(whole.parse("dispatch", example("matmul_512.mlir")));
  ASSERT_TRUE(whole.run(kStart, kHal)) << whole.diagnostics();
  const auto code = whole.executable();
  ASSERT_TRUE(code) << code.error().message;
  const auto artifact = prepare(matmul_512()).compile(std::nullopt);
  ASSERT_TRUE(artifact);
  provider::Artifact in_program = *artifact;
  in_program.code = *code;
  EXPECT_EQ(provider::identity(*artifact), provider::identity(in_program));
}

TEST(PreparedDispatch, ConfiguresATransposedOperand) {
  const auto program = load("tb.mlir", R"(
func.func @tb(%a: tensor<128x512xf32>, %b: tensor<256x512xf32>) -> tensor<128x256xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x256xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<128x256xf32>) -> tensor<128x256xf32>
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>,
                                      affine_map<(m, n, k) -> (n, k)>,
                                      affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<128x512xf32>, tensor<256x512xf32>)
      outs(%f : tensor<128x256xf32>) -> tensor<128x256xf32>
  return %r : tensor<128x256xf32>
})");
  const auto artifact =
      prepare(program.dispatches.at(0))
          .compile(tiles("distribution = [32, 64, 0], vector_common_parallel = [8, 32, 0], "
                         "vector_reduction = [0, 0, 1]"));
  ASSERT_TRUE(artifact) << artifact.error().message;
  EXPECT_THAT(artifact->launch.grid, ElementsAre(16, 1, 1));  // 128/32 x 256/64
}

// Loops (n, m, k): 64 by 32 of (m, n) of 128 by 256 are 2 x 8 workgroups.
TEST(PreparedDispatch, InterchangesTheLoopsOfItsRoot) {
  const auto program = load("swapped.mlir", R"(
func.func @swapped(%a: tensor<512x128xf32>, %b: tensor<256x512xf32>) -> tensor<256x128xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x128xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256x128xf32>) -> tensor<256x128xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(n, m, k) -> (k, m)>,
                                        affine_map<(n, m, k) -> (n, k)>,
                                        affine_map<(n, m, k) -> (n, m)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<512x128xf32>, tensor<256x512xf32>) outs(%f : tensor<256x128xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %1 = arith.mulf %x, %y : f32
    %2 = arith.addf %z, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<256x128xf32>
  return %r : tensor<256x128xf32>
})");
  PreparedDispatch prepared = prepare(program.dispatches.at(0));
  Attributes wanted = tiles(
      "distribution = [64, 32, 0], vector_common_parallel = [32, 8, 0], "
      "vector_reduction = [0, 0, 4]");
  wanted.interchange = {1, 0, 2};
  const auto artifact = prepared.compile(wanted);
  ASSERT_TRUE(artifact) << artifact.error().message;
  EXPECT_THAT(artifact->launch.grid, ElementsAre(16, 1, 1));

  wanted.interchange = {1, 1, 2};
  const auto twice = prepared.compile(wanted);
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().kind, FailureKind::kNotApplied);
  // The operation of a matmul's name has its order.
  wanted.interchange = {1, 0, 2};
  EXPECT_FALSE(prepare(matmul_512()).compile(wanted));
}

TEST(PreparedDispatch, PassesOnTheCompilersWordsAboutAnIllegalConfiguration) {
  PreparedDispatch prepared = prepare(matmul_512());
  const auto reduction =
      prepared.compile(tiles("distribution = [64, 64, 0], vector_common_parallel = [8, 32, 4]"));
  ASSERT_FALSE(reduction);
  EXPECT_EQ(reduction.error().kind, FailureKind::kCompileError);
  EXPECT_THAT(reduction.error().message,
              HasSubstr("expected only parallel dims to be set in the vector_common_parallel"));

  const auto large =
      prepared.compile(tiles("distribution = [64, 64, 0], vector_common_parallel = [64, 64, 0]"));
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().kind, FailureKind::kCompileError);
  EXPECT_THAT(large.error().message, HasSubstr("large vector sizes (32768 bytes)"));

  const auto text = prepared.compile(Attributes{"#iree_cpu.nothing", kDoubleTiling});
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().kind, FailureKind::kCompileError);

  // What failed before leaves nothing behind.
  EXPECT_TRUE(prepared.compile(std::nullopt));
}

// The compiler splits a softmax into other operations before it configures them, and a
// configuration would go with the softmax, without a word: it is given to what was configured
// instead.
TEST(PreparedDispatch, ConfiguresWhatASoftmaxWasTakenApartInto) {
  const auto program = load("softmax.mlir", R"(
func.func @softmax(%x: tensor<64x512xf32>) -> tensor<64x512xf32> {
  %e = tensor.empty() : tensor<64x512xf32>
  %r = linalg.softmax dimension(1) ins(%x : tensor<64x512xf32>)
                                   outs(%e : tensor<64x512xf32>) -> tensor<64x512xf32>
  return %r : tensor<64x512xf32>
})");
  PreparedDispatch prepared = prepare(program.dispatches.at(0));
  const auto artifact = prepared.compile(
      tiles("distribution = [8, 0], vector_common_parallel = [1, 0], vector_reduction = [0, 8]"));
  ASSERT_TRUE(artifact) << artifact.error().message;
  EXPECT_EQ(artifact->configured,
            "#iree_cpu.lowering_config<distribution = [8, 0], vector_common_parallel = [1, 0], "
            "vector_reduction = [0, 8]>");
  EXPECT_TRUE(artifact->code != prepared.compile(std::nullopt)->code);
}

// Of a batch of one the program loses the loop, and the compiler gives it back after it has read
// configurations: what is on the operation before is dropped.
TEST(PreparedDispatch, ConfiguresAConvolutionOfOneImageWithItsBatchLoop) {
  const auto program = load("conv.mlir", R"(
func.func @conv(%x: tensor<1x18x18x16xf32>, %w: tensor<3x3x16x32xf32>) -> tensor<1x16x16x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x16x16x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x16x16x32xf32>) -> tensor<1x16x16x32xf32>
  %r = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x18x18x16xf32>, tensor<3x3x16x32xf32>)
                                outs(%f : tensor<1x16x16x32xf32>) -> tensor<1x16x16x32xf32>
  return %r : tensor<1x16x16x32xf32>
})");
  const problem::Dispatch& dispatch = program.dispatches.at(0);
  EXPECT_EQ(describe(dispatch.root), "convolution 1x16x16x32x3x3x16 f32,f32->f32");
  EXPECT_THAT(dispatch.root_bindings, ElementsAre(0, 1, 2));
  const auto artifact =
      prepare(dispatch).compile(tiles("distribution = [0, 8, 8, 16, 0, 0, 0], "
                                      "vector_common_parallel = [1, 1, 4, 8, 0, 0, 0], "
                                      "vector_reduction = [0, 0, 0, 0, 1, 1, 4]"));
  ASSERT_TRUE(artifact) << artifact.error().message;
  EXPECT_EQ(artifact->configured,
            "#iree_cpu.lowering_config<distribution = [0, 8, 8, 16, 0, 0, 0], "
            "vector_common_parallel = [1, 1, 4, 8, 0, 0, 0], "
            "vector_reduction = [0, 0, 0, 0, 1, 1, 4]>");
  EXPECT_THAT(artifact->launch.grid, ElementsAre(8, 1, 1));  // 16/8 x 16/8 x 32/16
}

// Data tiling makes another operation of the root after configurations have been read.
TEST(PreparedDispatch, NoticesAConfigurationThatWasDropped) {
  std::vector<std::string> flags = avx512_flags();
  flags.emplace_back("--iree-opt-data-tiling");
  const auto program = load("matmul_512.mlir", example("matmul_512.mlir"), flags);
  const auto product =
      std::find_if(program.dispatches.begin(), program.dispatches.end(),
                   [](const auto& each) { return is_contraction(each.root.kind); });
  ASSERT_NE(product, program.dispatches.end());
  auto prepared = PreparedDispatch::create(compiler(), product->source, flags);
  ASSERT_TRUE(prepared) << prepared.error().message;
  const auto artifact = prepared->compile(tiles(
      "distribution = [64, 64, 0], vector_common_parallel = [8, 32, 0], vector_reduction = [0, 0, "
      "4]"));
  ASSERT_FALSE(artifact);
  EXPECT_EQ(artifact.error().kind, FailureKind::kNotApplied) << artifact.error().message;
}

TEST(InProcessLinker, TakesTheCompilersCallApart) {
  const auto arguments = linker_arguments(
      "LLD_VERSION=IREE /opt/iree/iree-lld -flavor gnu -o /tmp/a.so -shared /tmp/a.o");
  ASSERT_TRUE(arguments);
  EXPECT_THAT(*arguments, ElementsAre("/opt/iree/iree-lld", "-flavor", "gnu", "-o", "/tmp/a.so",
                                      "-shared", "/tmp/a.o", "--threads=1"));
  EXPECT_FALSE(linker_arguments("ls -l"));
  EXPECT_FALSE(linker_arguments("LLD_VERSION=IREE /usr/bin/my-lld -flavor gnu -o a.so a.o"));
  EXPECT_FALSE(linker_arguments("LLD_VERSION=IREE 'a b/iree-lld' -flavor gnu -o a.so a.o"));
}

TEST(InProcessLinker, IsInEffect) {
  EXPECT_TRUE(compiler().links_in_process());
}

TEST(InProcessLinker, LinksWhatTheProgramOfItsOwnLinks) {
  const problem::Dispatch dispatch = matmul_512();
  const CompilerLibrary library = compiler();
  // A name that hone does not take for IREE's linker, so that a process of its own runs.
  const auto folder = TemporaryFolder::create("hone-test-");
  ASSERT_TRUE(folder);
  const auto other = folder->path() / "another-linker";
  std::filesystem::create_symlink(library.installation().iree_lld, other);
  std::vector<std::string> flags = avx512_flags();
  flags.push_back("--iree-llvmcpu-embedded-linker-path=" + other.string());
  auto outside = PreparedDispatch::create(library, dispatch.source, flags);
  ASSERT_TRUE(outside);
  const auto a = outside->compile(std::nullopt);
  const auto b = prepare(dispatch).compile(std::nullopt);
  ASSERT_TRUE(a && b);
  EXPECT_TRUE(a->code == b->code);
}

}  // namespace
}  // namespace hone::iree
