#include "tune/program/build.h"

#include <gtest/gtest.h>

namespace hone::tune {
namespace {

TEST(Build, IsKnownByWhatItIsCompiledFromAndNotByItsLabel) {
  const Build build{.label = "a", .flags = {"--x"}, .spec = "module"};
  Build same = build;
  same.label = "another";
  EXPECT_EQ(build.id(), same.id());
  Build other = build;
  other.flags = {"--x", "--y"};
  EXPECT_NE(build.id(), other.id());
  other = build;
  other.spec = "";
  EXPECT_NE(build.id(), other.id());
  EXPECT_FALSE(other.uses_spec());
  other = build;
  other.replaced = {{"main_dispatch_0", "kernel"}};
  EXPECT_NE(build.id(), other.id());
  EXPECT_TRUE(other.uses_spec());
  EXPECT_EQ(default_build().id(), Build{.label = "as it is"}.id());
}

TEST(Build, LabelsAreJoinedWhereThereAreTwo) {
  EXPECT_EQ(joined_label("data tiling", "spec"), "data tiling + spec");
  EXPECT_EQ(joined_label("", "spec"), "spec");
  EXPECT_EQ(joined_label("data tiling", ""), "data tiling");
}

}  // namespace
}  // namespace hone::tune
