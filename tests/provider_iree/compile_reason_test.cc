// Reasons that IREE 3.13 prints, and that they are still printed so.
#include <gmock/gmock.h>

#include "provider/iree/compiler/compiler_session.h"
#include "tests/provider_iree/compiler.h"

namespace hone::iree {
namespace {

using ::testing::StartsWith;

TEST(CompileReason, OfSharedMemory) {
  EXPECT_THAT(
      with_reason("dispatch:9:5: 'func.func' op uses 426496 bytes of shared memory; exceeded "
                  "the limit of 166912 bytes\ndispatch:3:5: failed to run translation"),
      StartsWith("shared memory 426496 B, limit 166912 B\ndispatch:9:5: "));
}

TEST(CompileReason, OfTheStack) {
  EXPECT_THAT(with_reason("dispatch:7:5: 'func.func' op exceeded stack allocation limit of 32768 "
                          "bytes for function. Got 131072 bytes\nmore"),
              StartsWith("stack 131072 B, limit 32768 B\ndispatch:7:5: "));
}

TEST(CompileReason, OfAVectorLayout) {
  EXPECT_THAT(with_reason("dispatch:16:9: 'func.func' op failed to distribute\n"
                          "dispatch:10:5: failed to run translation of source executable"),
              StartsWith("no vector layout: "));
}

TEST(CompileReason, OfAllElseIsTheFirstLineWithoutItsPlace) {
  EXPECT_EQ(with_reason("dispatch:16:9: expected something\nmore"), "expected something\nmore");
  EXPECT_EQ(with_reason("a.mlir:3:4: expected something"), "a.mlir:3:4: expected something");
  EXPECT_EQ(with_reason(""), "");
}

TEST(CompileReason, OfAWholeProgramIsWhatTheLinkerMisses) {
  constexpr char kLink[] =
      "IREE cannot compile 'log.mlir':\n"
      "log.mlir:0:0: failed to link executable and generate target dylib\n"
      "iree-lld: error: undefined symbol: log10f\n"
      ">>> referenced by -:2\n";
  EXPECT_EQ(reason_in_program(kLink), "undefined symbol: log10f");
  EXPECT_EQ(reason_in_program("IREE cannot compile 'a.mlir':\na.mlir:3:4: unsupported\nmore"),
            "a.mlir:3:4: unsupported");
  EXPECT_EQ(reason_in_program("no end after 20 s"), "no end after 20 s");
}

// A vector tile of 128 x 128 in f32 takes 65,536 bytes.
TEST(CompileReason, OfVectorsIsReadFromTheCompilerThatIsInstalled) {
  PreparedDispatch prepared =
      prepare(load("matmul_512.mlir", example("matmul_512.mlir")).dispatches.at(0));
  const auto artifact = prepared.compile(
      Attributes{"#iree_cpu.lowering_config<distribution = [128, 128, 0], vector_common_parallel = "
                 "[128, 128, 0], vector_reduction = [0, 0, 1]>",
                 kDoubleTiling});
  ASSERT_FALSE(artifact);
  EXPECT_EQ(artifact.error().kind, provider::FailureKind::kCompileError);
  EXPECT_THAT(artifact.error().message, StartsWith("vectors of more than 32768 B\n"));
}

}  // namespace
}  // namespace hone::iree
