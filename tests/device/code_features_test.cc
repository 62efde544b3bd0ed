#include "device/cpu/code_features.h"

#include <gmock/gmock.h>

namespace hone::device::cpu {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

problem::CpuTarget some_cpu() {
  problem::CpuTarget cpu;
  cpu.features = {"fpu", "sse4_2", "avx", "avx2", "fma", "f16c", "hypervisor", "md_clear"};
  return cpu;
}

TEST(CodeFeatures, AreThoseOfTheLevelsOfX86) {
  EXPECT_THAT(code_features("x86-64", {}), testing::Optional(IsEmpty()));
  EXPECT_THAT(code_features("generic", {}), testing::Optional(IsEmpty()));
  EXPECT_THAT(*code_features("x86-64-v2", {}), Not(Contains("avx2")));
  EXPECT_THAT(*code_features("x86-64-v3", {}), Contains("avx2"));
  EXPECT_THAT(*code_features("x86-64-v4", {}), Contains("avx512vl"));
}

TEST(CodeFeatures, OfTheHostAreThoseThatACompilerUses) {
  EXPECT_THAT(*code_features("host", some_cpu()),
              ElementsAre("sse4_2", "avx", "avx2", "fma", "f16c"));
}

TEST(CodeFeatures, OfAnArmAreAllThatItHas) {
  problem::CpuTarget arm;
  arm.features = {"fp", "asimd", "asimddp"};
  EXPECT_TRUE(is_arm(arm));
  EXPECT_EQ(*code_features("host", arm), arm.features);
  EXPECT_THAT(*code_features("aarch64", some_cpu()), ElementsAre("asimd"));
  EXPECT_THAT(missing_features({"asimd"}, some_cpu()), ElementsAre("asimd"));
}

TEST(CodeFeatures, AnotherArchitectureIsToldByItsName) {
  problem::CpuTarget arm;
  arm.features = {"fp", "asimd"};
  EXPECT_TRUE(is_foreign("aarch64-neoverse-n1", some_cpu()));
  EXPECT_FALSE(is_foreign("aarch64-neoverse-n1", arm));
  EXPECT_TRUE(is_foreign("x86-64-v3", arm));
  for (const char* either : {"host", "generic"}) {
    EXPECT_FALSE(is_foreign(either, arm));
    EXPECT_FALSE(is_foreign(either, some_cpu()));
  }
}

TEST(ArchitectureLevel, IsTheHighestThatTheCpuHasWhole) {
  problem::CpuTarget cpu;
  cpu.features = *code_features("x86-64-v3", {});
  EXPECT_EQ(architecture_level(cpu), "x86-64-v3");
  cpu.features.pop_back();
  EXPECT_EQ(architecture_level(cpu), "x86-64");
  cpu.features = *code_features("x86-64-v4", {});
  EXPECT_EQ(architecture_level(cpu), "x86-64-v4");
  cpu.features = {"fp", "asimd"};
  EXPECT_EQ(architecture_level(cpu), "aarch64");
  EXPECT_EQ(baseline(cpu), "aarch64");
}

TEST(CodeFeatures, OfAnotherCpuAreNotKnown) {
  EXPECT_FALSE(code_features("znver4", some_cpu()));
  EXPECT_FALSE(code_features("x86-64-v5", some_cpu()));
  EXPECT_FALSE(code_features("x86-64-v", some_cpu()));
}

TEST(MissingFeatures, AreThoseThatTheCpuLacks) {
  EXPECT_THAT(missing_features({"avx2", "avx512f"}, some_cpu()), ElementsAre("avx512f"));
  EXPECT_THAT(missing_features({}, some_cpu()), IsEmpty());
}

}  // namespace
}  // namespace hone::device::cpu
