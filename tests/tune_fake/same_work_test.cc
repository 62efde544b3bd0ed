// Entries of a spec: which dispatches one was verified for, where a program is compiled anew with
// other flags, and what a kernel in the compiler's place needs.
#include <gtest/gtest.h>

#include "tests/tune_fake/fake_compiler.h"
#include "tune/program/spec_entries.h"

namespace hone::tune {
namespace {

TEST(SameWork, LiesElsewhereWhereBuffersArePackedOtherwise) {
  const test::FakeProvider provider;
  const problem::Dispatch packed = test::fake_dispatch(0, {"--packed"});
  problem::Dispatch elsewhere = test::fake_dispatch(0, {"--packed-otherwise"});
  for (std::size_t i = 0; i < elsewhere.bindings.size(); ++i) {
    elsewhere.bindings[i].ordinal = 0;
    elsewhere.bindings[i].offset = static_cast<std::int64_t>(i) * 65536;
  }
  EXPECT_TRUE(same_work(provider, packed, elsewhere));
  elsewhere.bindings[1].bytes *= 2;
  EXPECT_FALSE(same_work(provider, packed, elsewhere));
}

// A near tie that takes the winner's place was neither kept with its code nor with its launch.
TEST(ReplacingEntry, NeedsTheLaunchOfCodeAlone) {
  const test::FakeProvider provider;
  const problem::Dispatch dispatch = test::fake_dispatch(0, {});
  std::vector<TunedDispatch> tuned(1);
  tuned[0].dispatch = &dispatch;
  tuned[0].payload = provider::Payload{.json = {{"knobs", 1}}, .replacing = "other"};
  std::vector<LeftOut> left_out;
  EXPECT_EQ(spec_entries(provider, tuned, left_out).size(), 1u);
  EXPECT_TRUE(left_out.empty());
  tuned[0].code = "code";
  EXPECT_TRUE(spec_entries(provider, tuned, left_out).empty());
  ASSERT_EQ(left_out.size(), 1u);
  EXPECT_EQ(left_out[0].reason,
            "how the kernel of '" + dispatch.name + "' is launched is not known");
}

}  // namespace
}  // namespace hone::tune
