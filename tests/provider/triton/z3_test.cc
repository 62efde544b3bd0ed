// The spaces against z3, which shares nothing with hone's engine.
#include <gtest/gtest.h>

#ifndef HONE_WITHOUT_Z3

#include "provider/triton/gemm_space.h"
#include "provider/triton/stated_spaces.h"
#include "provider/triton/tune_gemm.h"
#include "tests/provider/triton/gemms.h"
#include "tests/space/z3_model.h"

namespace hone::triton {
namespace {

std::set<space::Configuration> enumerated(const space::Space& space) {
  std::set<space::Configuration> all;
  space::Enumerator enumerator = space.enumerate();
  while (auto configuration = enumerator.next()) all.insert(*configuration);
  return all;
}

void expect_agreement(const space::SpaceBuilder& builder, std::size_t least) {
  const auto found = space::z3model::Model(builder).solutions(60000);
  ASSERT_TRUE(found);
  EXPECT_EQ(enumerated(*builder.build()), *found);
  EXPECT_GT(found->size(), least);
}

TEST(Z3, AgreesOnTuneGemmsSpaceOfAThinMatmul) {
  expect_agreement(tune_gemm_space_builder(gemm(16, 64, 96), {}), 20);
}

TEST(Z3, AgreesOnHonesOwnSpaceOfASmallMatmul) {
  expect_agreement(gemm_space_builder(gemm(17, 129, 33), gemm_device("sm_90").value()), 100);
  expect_agreement(gemm_space_builder(gemm(16, 96, 64), gemm_device("gfx1100").value()), 20);
}

TEST(Z3, AgreesOnTheSpaceOfAttention) {
  expect_agreement(attention_space_builder({20, 256, 77, 64, 64}, gemm_device("sm_90").value()),
                   10);
}

}  // namespace
}  // namespace hone::triton

#endif
