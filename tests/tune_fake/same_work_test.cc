// Which dispatches one entry of a spec was verified for, where a program is compiled anew with
// other flags.
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

}  // namespace
}  // namespace hone::tune
