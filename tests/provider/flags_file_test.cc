#include "provider/iree/compiler/flags_file.h"

#include <gmock/gmock.h>

namespace hone::iree {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

FileFlags read(std::string_view text) {
  auto flags = read_flags_file("f.txt", text);
  EXPECT_TRUE(flags) << flags.error().message;
  return flags.value_or(FileFlags());
}

std::string flags_error(std::string_view text) {
  const auto flags = read_flags_file("f.txt", text);
  return flags ? "no error" : flags.error().message;
}

TEST(FlagsFile, HasAFlagInEachLine) {
  const FileFlags flags = read("# what we ship\n--iree-opt-level=O3\n\n-iree-opt-const-eval=false");
  EXPECT_THAT(flags.flags, ElementsAre("--iree-opt-level=O3", "--iree-opt-const-eval=false"));
  EXPECT_EQ(flags.target, "");
  EXPECT_THAT(flags.notes, IsEmpty());
}

// hone's own compile_flags.txt has such lines.
TEST(FlagsFile, QuotesKeepSpaces) {
  const FileFlags flags = read(
      "\"--iree-preprocessing-pass-pipeline=builtin.module(util.func(a), b)\"\n"
      "--x='y z' --w=a\\ b");
  EXPECT_THAT(flags.flags,
              ElementsAre("--iree-preprocessing-pass-pipeline=builtin.module(util.func(a), b)",
                          "--x=y z", "--w=a b"));
}

// Of nod-ai/shark-ai in 2025.
TEST(FlagsFile, FlagsOfHipAreThoseOfRocmToday) {
  const FileFlags flags = read(
      "--iree-hal-target-device=hip --iree-hip-target=gfx942 --iree-hip-waves-per-eu=2\n"
      "--iree-hip-legacy-sync=false --iree-codegen-llvmgpu-early-tile-and-fuse-matmul=true");
  EXPECT_EQ(flags.target, "gfx942");
  EXPECT_THAT(flags.flags, ElementsAre("--iree-rocm-waves-per-eu=2",
                                       "--iree-codegen-llvmgpu-use-tile-and-fuse-matmul=true"));
  EXPECT_THAT(flags.notes, ElementsAre(HasSubstr("'--iree-hip-waves-per-eu=2' is called"),
                                       HasSubstr("'--iree-hip-legacy-sync=false' is left out"),
                                       HasSubstr("early-tile-and-fuse-matmul=true' is called")));
}

// Of nod-ai/sdxl-scripts in 2024, as its users typed it.
TEST(FlagsFile, TakesAWholeCommandOfOldNames) {
  const FileFlags flags = read(R"sh(
iree-compile --iree-hal-target-backends=rocm --iree-rocm-target-chip=gfx940 \
--iree-rocm-bc-dir=bitcode-2024-03-07 --iree-global-opt-propagate-transposes=true \
--iree-opt-outer-dim-concat=true --iree-opt-data-tiling=false --iree-opt-const-eval=false \
--iree-codegen-llvmgpu-use-vector-distribution --iree-vm-target-truncate-unsupported-floats \
--iree-llvmgpu-enable-prefetch --iree-codegen-gpu-native-math-precision=true \
--iree-rocm-waves-per-eu=2 --iree-flow-enable-aggressive-fusion \
--iree-global-opt-enable-fuse-horizontal-contractions=true \
--iree-opt-aggressively-propagate-transposes=true --iree-execution-model=async-external \
--iree-hal-dump-executable-configurations-to=configurations/unet \
--iree-hal-dump-executable-sources-to=sources/unet \
--iree-preprocessing-pass-pipeline="builtin.module(a, util.func(b))" \
--iree-codegen-transform-dialect-library=./specs/attention_and_matmul_spec.mlir \
./base_ir/unet.mlir -o ./tmp/unet_spec.vmfb
)sh");
  EXPECT_EQ(flags.target, "gfx940");
  EXPECT_THAT(
      flags.flags,
      ElementsAre("--iree-rocm-bc-dir=bitcode-2024-03-07",
                  "--iree-global-opt-propagate-transposes=true", "--iree-opt-outer-dim-concat=true",
                  "--iree-opt-data-tiling=false", "--iree-opt-const-eval=false",
                  "--iree-codegen-llvmgpu-use-vector-distribution",
                  "--iree-vm-target-truncate-unsupported-floats", "--iree-rocm-waves-per-eu=2",
                  "--iree-dispatch-creation-enable-aggressive-fusion",
                  "--iree-dispatch-creation-enable-fuse-horizontal-contractions=true",
                  "--iree-opt-aggressively-propagate-transposes=true",
                  "--iree-execution-model=async-external",
                  "--iree-preprocessing-pass-pipeline=builtin.module(a, util.func(b))",
                  "--iree-codegen-transform-dialect-library=./specs/attention_and_matmul_spec."
                  "mlir"));
  EXPECT_THAT(
      flags.notes,
      ElementsAre(HasSubstr("'--iree-llvmgpu-enable-prefetch' is left out"),
                  HasSubstr("'--iree-codegen-gpu-native-math-precision=true' is left out"),
                  HasSubstr("is called '--iree-dispatch-creation-enable-aggressive-fusion'"),
                  HasSubstr("is called '--iree-dispatch-creation-enable-fuse-horizontal"),
                  HasSubstr("'--iree-hal-dump-executable-configurations-to="),
                  HasSubstr("'--iree-hal-dump-executable-sources-to="),
                  HasSubstr("'./base_ir/unet.mlir' is left out"), HasSubstr("'-o' is left out")));
}

// As hone's own compile_flags.txt has them, which somebody tunes on from.
TEST(FlagsFile, LeavesOutKernelsThatHideWhatTheyReplace) {
  const FileFlags flags =
      read("--iree-opt-level=O3\n--iree-hal-substitute-executable-sources-from=out/kernels");
  EXPECT_THAT(flags.flags, ElementsAre("--iree-opt-level=O3"));
  EXPECT_THAT(flags.notes, ElementsAre(HasSubstr("could not be tuned")));
}

TEST(FlagsFile, SaysWhichTargetItIsFor) {
  EXPECT_EQ(read("--iree-hal-target-device=cuda --iree-cuda-target=sm_90").target, "sm_90");
  EXPECT_EQ(read("--iree-hal-target-device=hip --iree-rocm-target=gfx942").target, "gfx942");
  EXPECT_EQ(read("--iree-llvmcpu-target-cpu=znver4").target, "znver4");
  const FileFlags any = read("--iree-hal-target-backends=llvm-cpu");
  EXPECT_EQ(any.target, "host");
  EXPECT_THAT(any.notes, ElementsAre(HasSubstr("no CPU is said")));
}

TEST(FlagsFile, MistakesHaveALine) {
  EXPECT_EQ(flags_error("--a=1\n--b=\"x\n"), "f.txt:2: the quote \" is not closed");
  EXPECT_EQ(flags_error("--iree-rocm-target=gfx942\n--iree-rocm-target=gfx90a"),
            "f.txt:2: '--iree-rocm-target=gfx90a' contradicts 'gfx942' before it");
  EXPECT_EQ(flags_error("--a\n--iree-rocm-bc-dir=$PWD/b"),
            "f.txt:2: '--iree-rocm-bc-dir=$PWD/b' has a variable of the shell, which nobody "
            "replaces here: write what it stands for");
  EXPECT_THAT(flags_error("--iree-hal-target-backends=rocm"), HasSubstr("which is not said"));
  EXPECT_THAT(flags_error("--iree-hal-target-backends=vulkan"), HasSubstr("no target of hone's"));
}

}  // namespace
}  // namespace hone::iree
