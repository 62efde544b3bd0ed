// The engine against z3, which shares nothing with it.
#include <gtest/gtest.h>

#ifndef HONE_WITHOUT_Z3

#include "tests/space/known_spaces.h"
#include "tests/space/random_space.h"
#include "tests/space/z3_model.h"

namespace hone::space {
namespace {

std::set<Configuration> set_of_all(const Space& space) {
  std::set<Configuration> all;
  Enumerator enumerator = space.enumerate();
  while (auto configuration = enumerator.next()) all.insert(*configuration);
  return all;
}

TEST(Z3, AgreesOnRandomSpaces) {
  std::mt19937_64 generator(11);
  int compared = 0;
  int inhabited = 0;
  for (int i = 0; i < 200; ++i) {
    const SpaceBuilder builder = random::random_space(generator).builder();
    const auto space = builder.build();
    ASSERT_TRUE(space);
    if (space->count().value > 60) continue;  // z3 takes a query for each configuration
    const auto found = z3model::Model(builder).solutions(2000);
    if (!found) continue;
    ASSERT_EQ(set_of_all(*space), *found) << "space " << i;
    ++compared;
    inhabited += !found->empty();
  }
  EXPECT_GT(compared, 100);
  EXPECT_GT(inhabited, 30);
}

TEST(Z3, AgreesOnTheTileAndFuseSpaceOfASmallMatmul) {
  const SpaceBuilder builder = known::tile_and_fuse({48, 64, 32});
  const auto found = z3model::Model(builder).solutions(60000);
  ASSERT_TRUE(found);
  EXPECT_EQ(set_of_all(*builder.build()), *found);
  EXPECT_GT(found->size(), 20u);
}

TEST(Z3, AgreesOnTheVectorDistributeSpaceOfASmallMatmul) {
  const SpaceBuilder builder = known::vector_distribute({96, 64, 64});
  const auto found = z3model::Model(builder).solutions(60000);
  ASSERT_TRUE(found);
  EXPECT_EQ(set_of_all(*builder.build()), *found);
  EXPECT_GT(found->size(), 5u);
}

}  // namespace
}  // namespace hone::space

#endif
