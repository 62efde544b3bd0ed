// Which of the compiler's flags are tried without a search of them.
#include "provider/iree/compiler/flag_choices.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace hone::iree {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

std::vector<std::string> names_of(const std::vector<provider::FlagChoice>& choices) {
  std::vector<std::string> names;
  for (const provider::FlagChoice& choice : choices) names.push_back(choice.name);
  return names;
}

TEST(KnownChoices, LeaveOutWhatTheUserSays) {
  EXPECT_THAT(names_of(known_choices({})),
              ElementsAre("data tiling", "data tiling + micro-kernels", "O3"));
  EXPECT_THAT(names_of(known_choices({"--iree-opt-level=O2"})),
              ElementsAre("data tiling", "data tiling + micro-kernels"));
  EXPECT_THAT(names_of(known_choices({"--iree-opt-data-tiling=false"})), ElementsAre("O3"));
}

// IREE reorders sums by itself from O2 on.
TEST(ReorderedSums, AreTheUsersToDecideAboutAndALevels) {
  const auto choice = reordered_sums({"--iree-llvmcpu-target-cpu=host"});
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->name, "reordered sums");
  EXPECT_THAT(choice->flags, ElementsAre("--iree-llvmcpu-reassociate-fp-reductions"));
  EXPECT_THAT(choice->why_not, IsEmpty());
  EXPECT_FALSE(reordered_sums({"--iree-llvmcpu-reassociate-fp-reductions=false"}));
  EXPECT_FALSE(reordered_sums({"--iree-opt-level=O1"}));
}

const provider::FlagChoice* blocks_in(const std::vector<provider::FlagChoice>& choices) {
  const auto found = std::ranges::find(choices, "weights in blocks", &provider::FlagChoice::name);
  return found == choices.end() ? nullptr : &*found;
}

// Two vectors of 16 f32 are 32 columns, of 8 they are 16.
TEST(FlagChoices, NameTheFileThatLaysOutWeights) {
  const auto choices = flag_choices({}, {}, /*vector_bits=*/512, "out");
  const provider::FlagChoice* const blocks = blocks_in(choices);
  ASSERT_NE(blocks, nullptr);
  EXPECT_THAT(
      blocks->flags,
      ElementsAre("--iree-preprocessing-transform-spec-filename=out/weights_in_blocks_of_32.mlir"));
  ASSERT_EQ(blocks->files.size(), 1u);
  EXPECT_EQ(blocks->files[0].path, "out/weights_in_blocks_of_32.mlir");
  EXPECT_THAT(blocks->files[0].text, testing::HasSubstr("packed_sizes = [0, 32, 0]"));
  EXPECT_EQ(blocks->reach, provider::SpecReach::kBlocks);
  EXPECT_EQ(blocks->why_not, "the program has no product of matrices");
  EXPECT_EQ(blocks_in(flag_choices({}, {}, 256, "out"))->files[0].path,
            "out/weights_in_blocks_of_16.mlir");
  // A GPU's kernels load their operands into shared memory in any layout.
  EXPECT_EQ(blocks_in(flag_choices({}, {}, 0, "out")), nullptr);
}

// iree-compile takes one such spec.
TEST(FlagChoices, LeaveOutWhatTheUsersTransformSpecExcludes) {
  const std::vector<std::string> own = {"--iree-preprocessing-transform-spec-filename=mine.mlir"};
  EXPECT_EQ(blocks_in(flag_choices({}, own, 512, "out")), nullptr);
}

// A store may come from anybody: what reads a file is given again, or trusted.
TEST(PlainChoices, NameNoFile) {
  const std::vector<std::string> names = plain_choices();
  EXPECT_THAT(names, Contains("--iree-opt-data-tiling"));
  EXPECT_THAT(names, Not(Contains("--iree-preprocessing-pass-pipeline")));
  EXPECT_THAT(names, Not(Contains("--iree-preprocessing-transform-spec-filename")));
}

// The spec of a program's regions has a name of its own, by what it says.
TEST(FlagChoices, NameTheFileThatFormsRegions) {
  const auto regions_in = [](const problem::Program& program) {
    const auto choices = flag_choices(program, {}, /*vector_bits=*/0, "out");
    return *std::ranges::find(choices, "regions", &provider::FlagChoice::name);
  };
  EXPECT_EQ(regions_in({}).why_not,
            "the program has no attention of separate products, and no grouped 1x1 convolution");
  problem::Program program;
  program.regions = {.names = {"attention 2x16x8x32x8"}, .spec = "a spec"};
  const provider::FlagChoice regions = regions_in(program);
  EXPECT_EQ(regions.changes, provider::DispatchChange::kRegions);
  EXPECT_THAT(regions.why_not, IsEmpty());
  ASSERT_EQ(regions.files.size(), 1u);
  EXPECT_EQ(regions.files[0].text, "a spec");
  EXPECT_THAT(regions.flags, ElementsAre("--iree-preprocessing-transform-spec-filename=" +
                                         regions.files[0].path.string()));
  program.regions.spec = "another spec";
  EXPECT_NE(regions_in(program).files[0].path, regions.files[0].path);
}

}  // namespace
}  // namespace hone::iree
