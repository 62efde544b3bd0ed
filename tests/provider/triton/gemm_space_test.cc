#include "provider/triton/gemm_space.h"

#include <gmock/gmock.h>

#include <set>

#include "provider/triton/tune_gemm.h"
#include "space/configuration.h"
#include "tests/space/broken_rules.h"

namespace hone::triton {
namespace {

using problem::ElementType;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;

Gemm gemm(std::int64_t m, std::int64_t n, std::int64_t k, ElementType c = ElementType::kF16) {
  Gemm gemm;
  gemm.m = m;
  gemm.n = n;
  gemm.k = k;
  gemm.c = c;
  return gemm;
}

space::Space space_of(const Gemm& gemm, std::string_view target) {
  return gemm_space(gemm, gemm_device(target).value()).value();
}

// On sm_90, with the kernels that are left out where descriptors serve.
space::Space with_every_kernel(const Gemm& gemm) {
  return space_of(gemm, "sm_90").relax({"descriptors_first"}).value();
}

// The values of one knob that occur.
std::set<space::Value> values(const space::Space& space, std::string_view knob) {
  std::set<space::Value> found;
  const std::size_t index = space.knob_index(knob).value();
  space::Enumerator enumerator = space.enumerate();
  while (const auto each = enumerator.next()) found.insert(each->values[index]);
  return found;
}

// Of NVIDIA's space; `changes` replace what is said before.
std::string text(std::map<std::string, int> changes) {
  std::map<std::string, int> knobs{{"STRUCTURE", 0}, {"BLOCK_M", 128},   {"BLOCK_N", 128},
                                   {"BLOCK_K", 64},  {"GROUP_M", 8},     {"SPLIT_K", 1},
                                   {"PER_UNIT", 1},  {"SPLIT_STORE", 0}, {"MORE_N", 0},
                                   {"SWAP", 0},      {"num_warps", 4},   {"num_stages", 3}};
  for (const auto& [name, value] : changes) knobs.at(name) = value;
  std::string text;
  for (const auto& [name, value] : knobs)
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", name, value);
  return text;
}

TEST(GemmSpace, IsOfSomeThousandsAndHasEveryStructure) {
  const space::Space narrow = space_of(gemm(2048, 1280, 5120), "sm_90");
  EXPECT_GT(narrow.count().value, 1000u);
  EXPECT_LT(narrow.count().value, 10'000u);
  EXPECT_THAT(values(narrow, "STRUCTURE"), ElementsAre(0, 4, 5, 6, 7, 8));
  const space::Space wide = space_of(gemm(2048, 1280, 5120, ElementType::kF32), "sm_90");
  EXPECT_THAT(values(wide, "STRUCTURE"), ElementsAre(0, 4, 5, 6, 7, 8));
  const auto all = wide.relax({"descriptors_first"});
  ASSERT_TRUE(all);
  EXPECT_THAT(values(*all, "STRUCTURE"), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8));
  const space::Space amd = space_of(gemm(2048, 1280, 5120), "gfx942");
  EXPECT_GT(amd.count().value, 1000u);
  EXPECT_LT(amd.count().value, 20'000u);
  EXPECT_THAT(values(amd, "STRUCTURE"), ElementsAre(0, 2, 3));
}

TEST(GemmSpace, OfNvidiaHasNoKnobOfAmd) {
  const space::Space nvidia = space_of(gemm(512, 512, 512), "sm_90");
  for (const char* knob : {"waves_per_eu", "matrix_instr_nonkdim", "kpack"})
    EXPECT_FALSE(nvidia.knob_index(knob)) << knob;
  const space::Space amd = space_of(gemm(512, 512, 512), "gfx942");
  EXPECT_THAT(values(amd, "matrix_instr_nonkdim"), ElementsAre(16, 32));
  EXPECT_THAT(values(amd, "kpack"), ElementsAre(1, 2));
  // Triton ignores kpack on gfx950; RDNA has one matrix instruction.
  EXPECT_THAT(values(space_of(gemm(512, 512, 512), "gfx950"), "kpack"), ElementsAre(1));
  EXPECT_THAT(values(space_of(gemm(512, 512, 512), "gfx1100"), "matrix_instr_nonkdim"),
              ElementsAre(16));
}

TEST(GemmSpace, HasDescriptorsFromSm90OnAndForRowsOfWhole16Bytes) {
  const std::string persistent = text({{"STRUCTURE", 4}});
  EXPECT_THAT(broken(space_of(gemm(2048, 1280, 5120), "sm_90"), persistent), ElementsAre());
  EXPECT_THAT(broken(space_of(gemm(2048, 1280, 5120), "sm_100"), persistent), ElementsAre());
  EXPECT_THAT(broken(space_of(gemm(2048, 1280, 5120), "sm_80"), persistent),
              ElementsAre("descriptors"));
  // Rows of A have 5119 x 2 bytes; those of B and C 1281 x 2.
  EXPECT_THAT(broken(space_of(gemm(2048, 1280, 5119), "sm_90"), persistent),
              ElementsAre("descriptor_rows_a"));
  EXPECT_THAT(broken(space_of(gemm(2048, 1281, 5120), "sm_90"), persistent),
              ElementsAre("descriptor_rows_b", "descriptor_rows_c"));
  Gemm transposed = gemm(2048, 1280, 5119);
  transposed.a_rows = false;  // rows of 2048
  EXPECT_THAT(broken(space_of(transposed, "sm_90"), persistent), ElementsAre());
}

TEST(GemmSpace, AddsAtomicallyOnlyToACOfTheTypeOfTheSums) {
  const std::string atomic = text({{"STRUCTURE", 1}, {"SPLIT_K", 2}});
  EXPECT_THAT(broken(with_every_kernel(gemm(2048, 1280, 5120)), atomic),
              ElementsAre("atomic_type"));
  EXPECT_THAT(broken(with_every_kernel(gemm(2048, 1280, 5120, ElementType::kF32)), atomic),
              ElementsAre());
  Gemm integers = gemm(2048, 1280, 5120, ElementType::kI32);
  integers.a = integers.b = ElementType::kI8;
  EXPECT_THAT(broken(with_every_kernel(integers), atomic), ElementsAre());
}

TEST(GemmSpace, OfABatchIsBlocked) {
  Gemm batch = gemm(512, 512, 512);
  batch.batch = 4;
  EXPECT_THAT(values(space_of(batch, "sm_90"), "STRUCTURE"), ElementsAre(0));
  EXPECT_THAT(broken(space_of(batch, "sm_90"), text({{"STRUCTURE", 3}, {"GROUP_M", 1}})),
              ElementsAre("batch"));
}

TEST(GemmSpace, ListsNoKernelAgainUnderKnobsThatItDoesNotRead) {
  const space::Space space = with_every_kernel(gemm(2048, 1280, 5120));
  EXPECT_THAT(broken(space, text({{"SPLIT_K", 2}})), ElementsAre("split_k_structure"));
  EXPECT_THAT(broken(space, text({{"STRUCTURE", 2}})), ElementsAre("split_k_structure"));
  EXPECT_THAT(broken(space, text({{"PER_UNIT", 2}})), IsSupersetOf({"per_unit_structure"}));
  EXPECT_THAT(broken(space, text({{"SPLIT_STORE", 1}})), ElementsAre("split_store_structure"));
}

TEST(GemmSpace, ListsNoGroupingAgainThatGroupsTheSame) {
  // 192 rows are two tiles of 128: groups of 4 hold all of them, and so do groups of 8.
  const space::Space space = space_of(gemm(192, 1280, 5120), "sm_90");
  EXPECT_THAT(broken(space, text({{"GROUP_M", 1}})), ElementsAre());
  EXPECT_THAT(broken(space, text({{"GROUP_M", 4}})), ElementsAre());
  EXPECT_THAT(broken(space, text({{"GROUP_M", 8}})), ElementsAre("group_m"));
  // With one column of tiles there is nothing to group.
  EXPECT_THAT(broken(space_of(gemm(2048, 128, 5120), "sm_90"), text({{"GROUP_M", 4}})),
              ElementsAre("group_m"));
}

TEST(GemmSpace, TakesTheSharedMemoryThatCompiledKernelsWereSeenToTake) {
  // 128 x 128 x 64 in f16, 32 KiB a step: blocked 98,304 bytes with 3 stages; persistent 131,096,
  // of which 32,768 are C's and 24 barriers, and 114,712 where C is written in halves.
  const Gemm problem = gemm(2048, 1280, 5120);
  GemmDevice device = gemm_device("sm_90").value();
  const auto fits = [&](std::int64_t bytes, std::map<std::string, int> changes) {
    device.shared_bytes = bytes;
    return broken(gemm_space(problem, device).value(), text(std::move(changes))).empty();
  };
  EXPECT_TRUE(fits(98'304, {}));
  EXPECT_FALSE(fits(98'303, {}));
  EXPECT_TRUE(fits(131'072, {{"STRUCTURE", 4}}));
  EXPECT_FALSE(fits(131'071, {{"STRUCTURE", 4}}));
  EXPECT_TRUE(fits(114'688, {{"STRUCTURE", 4}, {"SPLIT_STORE", 1}}));
  EXPECT_FALSE(fits(114'687, {{"STRUCTURE", 4}, {"SPLIT_STORE", 1}}));
  // Of 8-bit operands the instruction reads shared memory only where both are stored along k: seen
  // with 64 x 64 x 128 and 3 stages, 16 KiB a step.
  const auto bytes_fit = [&](std::int64_t bytes, bool b_rows) {
    Gemm eight = problem;
    eight.a = eight.b = ElementType::kF8E4M3;
    eight.b_rows = b_rows;
    device.shared_bytes = bytes;
    return broken(gemm_space(eight, device).value(),
                  text({{"BLOCK_M", 64}, {"BLOCK_N", 64}, {"BLOCK_K", 128}}))
        .empty();
  };
  EXPECT_TRUE(bytes_fit(49'152, false));
  EXPECT_FALSE(bytes_fit(49'151, false));
  EXPECT_TRUE(bytes_fit(32'768, true));
  EXPECT_FALSE(bytes_fit(32'767, true));
  // On Ampere one step less lies there: 65,536 bytes.
  device = gemm_device("sm_80").value();
  EXPECT_TRUE(fits(65'536, {}));
  EXPECT_FALSE(fits(65'535, {}));
}

TEST(GemmSpace, OfAmdExchangesSumsThroughLdsBeforeAtomicAdditions) {
  // Seen on gfx942, whose LDS is 64 KiB: 128 x 128 takes 65,536 bytes, 128 x 256 131,072, and with
  // 16 x 16 instructions and four wavefronts 65,536.
  const space::Space space = space_of(gemm(2048, 1280, 5120, ElementType::kF32), "gfx942");
  const auto atomic = [&](int block_n, int nonkdim, int warps) {
    return broken(space,
                  text({{"STRUCTURE", 1},
                        {"SPLIT_K", 3},
                        {"BLOCK_K", 32},
                        {"num_stages", 1},
                        {"BLOCK_N", block_n},
                        {"num_warps", warps}}) +
                      fmt::format(",waves_per_eu=0,kpack=1,matrix_instr_nonkdim={}", nonkdim));
  };
  EXPECT_THAT(atomic(128, 32, 4), ElementsAre());
  EXPECT_THAT(atomic(256, 16, 4), ElementsAre());
  EXPECT_THAT(atomic(256, 32, 4), ElementsAre("shared_memory"));
  EXPECT_THAT(atomic(256, 16, 8), ElementsAre("shared_memory"));
}

TEST(GemmSpace, GuessesAreSoft) {
  const space::Space space = with_every_kernel(gemm(2048, 1280, 5120));
  EXPECT_THAT(broken(space, text({{"BLOCK_N", 256}})), ElementsAre("accumulators"));
  EXPECT_THAT(broken(space, text({{"num_warps", 2}, {"BLOCK_M", 64}})), ElementsAre("warpgroups"));
  EXPECT_THAT(broken(space, text({{"BLOCK_K", 16}})), ElementsAre("step_bytes"));
  EXPECT_THAT(broken(space, text({{"STRUCTURE", 2}, {"SPLIT_K", 6}})),
              ElementsAre("split_k_fills"));  // 160 tiles x 6 for 132 units
  const auto relaxed = space.relax({"all"});
  ASSERT_TRUE(relaxed);
  EXPECT_GT(relaxed->count().value, 10 * space.count().value);
  EXPECT_THAT(broken(*relaxed, text({{"BLOCK_N", 256}})), ElementsAre());
}

TEST(GemmSpace, HasTailsAndIsNeverEmpty) {
  for (const char* target :
       {"sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "gfx942", "gfx950", "gfx1100"})
    for (const std::int64_t size : {1, 7, 17, 33, 129, 5119})
      EXPECT_GT(space_of(gemm(size, 33, size), target).count().value, 0u) << target << " " << size;
}

TEST(GemmSpace, OfEightBitOperandsIsAtLeast32Deep) {
  Gemm bytes = gemm(512, 512, 512);
  bytes.a = bytes.b = ElementType::kF8E4M3;
  const space::Space space = space_of(bytes, "sm_90").relax({"all"}).value();
  EXPECT_THAT(values(space, "BLOCK_K"), ElementsAre(32, 64, 128, 256));
}

TEST(GemmSpace, RefusesTypesThatTheTargetLacks) {
  Gemm bytes = gemm(512, 512, 512);
  bytes.a = bytes.b = ElementType::kF8E4M3;
  const auto space = gemm_space(bytes, gemm_device("sm_80").value());
  ASSERT_FALSE(space);
  EXPECT_EQ(space.error().message,
            "sm_80 has no f8E4M3FN; it needs sm_89 or later, f8E5M2 works here");
  Gemm rounded = gemm(512, 512, 512, ElementType::kF32);
  rounded.a = rounded.b = ElementType::kF32;
  rounded.tf32 = true;
  EXPECT_TRUE(gemm_space(rounded, gemm_device("gfx942").value()));
  EXPECT_THAT(gemm_space(rounded, gemm_device("gfx950").value()).error().message,
              HasSubstr("gfx950 has no tf32"));
}

TEST(GemmDevice, OfAnUnknownTargetIsAnInputError) {
  const auto device = gemm_device("sm_91");
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error().kind, ErrorKind::kInput);
  EXPECT_THAT(device.error().message, HasSubstr("did you mean 'sm_90'"));
}

TEST(WorkerKnobs, AreThoseOfTheConfiguration) {
  const space::Space space = space_of(gemm(2048, 1280, 5120), "sm_90");
  const auto configuration = space::parse_configuration(space, text({{"STRUCTURE", 4}})).value();
  EXPECT_THAT(worker_knobs(gemm(2048, 1280, 5120), space, configuration),
              testing::UnorderedElementsAre(std::pair("STRUCTURE", 4), std::pair("BLOCK_M", 128),
                                            std::pair("BLOCK_N", 128), std::pair("BLOCK_K", 64),
                                            std::pair("GROUP_M", 8), std::pair("SPLIT_K", 1),
                                            std::pair("MORE_N", 0), std::pair("SWAP", 0),
                                            std::pair("PER_UNIT", 1), std::pair("SPLIT_STORE", 0),
                                            std::pair("num_warps", 4), std::pair("num_stages", 3)));
}

TEST(WorkerKnobs, OfTuneGemmsSpaceChooseTheKernelBySplitK) {
  Gemm thin = gemm(16, 4096, 4096);
  const space::Space space = tune_gemm_space(thin, {}).value();
  const auto structure = [&](int split_k) {
    const auto configuration = space::parse_configuration(
        space, fmt::format("BLOCK_M=16,BLOCK_N=64,BLOCK_K=64,SPLIT_K={},num_warps=4,GROUP_M=1,"
                           "num_stages=2,waves_per_eu=0,matrix_instr_nonkdim=16,kpack=1",
                           split_k));
    return worker_knobs(thin, space, *configuration).at("STRUCTURE");
  };
  EXPECT_EQ(structure(1), kBlocked);
  EXPECT_EQ(structure(4), kSplitKTwoPasses);  // sums of f32, C of f16
  thin.c = ElementType::kF32;
  EXPECT_EQ(structure(4), kSplitKAtomic);
  EXPECT_EQ(structure(1), kBlocked);
}

}  // namespace
}  // namespace hone::triton
