// Which of the compiler's flags are tried without a search of them.
#include "provider/iree/compiler/flag_choices.h"

#include <gmock/gmock.h>

namespace hone::iree {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

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

}  // namespace
}  // namespace hone::iree
