#include <gmock/gmock.h>

#include <map>
#include <set>

#include "provider/iree/cpu/loops.h"
#include "provider/iree/cpu/space.h"
#include "space/configuration.h"
#include "tests/provider/contractions.h"
#include "tests/space/broken_rules.h"

namespace hone::iree {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAre;

space::Space space_of(const problem::Operation& root, int cores = 1, bool fused = false) {
  auto space = llvm_cpu_contraction_space(root, avx512(cores), {.fused_consumers = fused});
  EXPECT_TRUE(space.has_value()) << space.error().message;
  return *space;
}

space::Space hard_space_of(const problem::Operation& root, bool fused = false) {
  return space_of(root, 1, fused).relax({"all"}).value();
}

TEST(TileSizes, AreDivisorsAndPowersOfTwoOnceOrThrice) {
  EXPECT_THAT(tile_sizes(12), ElementsAre(1, 2, 3, 4, 6, 8, 12));
  // 10: divisors 1 2 5 10; 2^i: 1 2 4 8; 3*2^i: 3 6.
  EXPECT_THAT(tile_sizes(10), ElementsAre(1, 2, 3, 4, 5, 6, 8, 10));
  EXPECT_THAT(tile_sizes(1), ElementsAre(1));
}

// 24 columns are one and a half registers: two pieces of 12, or one of 16 and the rest peeled.
TEST(LlvmCpuSpace, CutsRowsThatNoRegisterDividesIntoPiecesOrPeelsThem) {
  const space::Space space = space_of(matmul(3136, 24, 144));
  const std::string rest = ",dist_m=784,dist_n=24,cache_m=0,cache_n=0,cache_k=0,vec_m=16,red_k=4";
  EXPECT_THAT(broken(space, "vec_n=12,peel=0" + rest), IsEmpty());
  EXPECT_THAT(broken(space, "vec_n=16,peel=1" + rest), IsEmpty());
  EXPECT_THAT(broken(space, "vec_n=16,peel=0" + rest), UnorderedElementsAre("tiles_divide"));
  EXPECT_THAT(broken(space, "vec_n=24,peel=0" + rest), testing::Contains("lanes_filled"));
}

// 49 columns (ResNet-50's last stage): of 32 at once 17 remain, of 16 one.
TEST(LlvmCpuSpace, PeelsNoRestThatIsNoVector) {
  const space::Space space = space_of(matmul(512, 49, 4608), 2);
  const std::string rest = ",dist_m=64,dist_n=49,cache_m=0,cache_n=0,cache_k=1152,red_k=2,peel=1";
  EXPECT_THAT(broken(space, "vec_m=16,vec_n=16" + rest), IsEmpty());
  EXPECT_THAT(broken(space, "vec_m=8,vec_n=32" + rest),
              UnorderedElementsAre("peeled_rest_in_registers"));
}

// Rows of 2048 f32 lie two ways of 4096 bytes apart: all 16 share the sets of 12 ways.
TEST(LlvmCpuSpace, KeepsTheRowsOfARegisterTileInTheFirstLevelCache) {
  const std::string rest = ",dist_m=192,dist_n=49,cache_m=0,cache_n=0,cache_k=0,red_k=2,peel=1";
  const space::Space aliased = space_of(matmul(192, 49, 2048));
  EXPECT_THAT(broken(aliased, "vec_m=16,vec_n=16" + rest),
              UnorderedElementsAre("rows_within_ways"));
  // 12 rows are all that are kept, and enough.
  EXPECT_THAT(broken(aliased, "vec_m=12,vec_n=16" + rest), IsEmpty());
  // 2064 f32: of 4096 bytes' greatest divisor, 64, there are 64 in a way.
  EXPECT_THAT(broken(space_of(matmul(192, 49, 2064)), "vec_m=16,vec_n=16" + rest), IsEmpty());
}

TEST(LlvmCpuSpace, InterchangesLoopsThatOuterProductsNeedInAnotherOrder) {
  const space::Space space = space_of(swapped_matmul(128, 64, 64));
  const std::string tiles =
      "dist_m=128,dist_n=64,cache_m=0,cache_n=0,cache_k=0,vec_m=32,vec_n=8,red_k=4,peel=0,";
  EXPECT_THAT(broken(space, tiles + "interchange=1"), IsEmpty());
  EXPECT_THAT(broken(space, tiles + "interchange=0"), UnorderedElementsAre("outer_products"));
  EXPECT_FALSE(space_of(matmul(128, 64, 64)).knob_index("interchange"));
}

// Loops as convolutions of 1x1 have them: of images of two dimensions, of several images, and of a
// batch of products.
TEST(LlvmCpuSpace, PutsAllMLoopsBeforeAllNLoops) {
  using enum problem::LoopRole;
  const auto interchange = [](const std::vector<problem::LoopRole>& roles) {
    problem::Operation root = swapped_matmul(64, 64, 64);
    root.kind = problem::OperationKind::kContraction;
    root.loops.clear();
    for (problem::Operand& each : root.operands) each.loops.clear(), each.type.shape.clear();
    for (std::size_t i = 0; i < roles.size(); ++i) {
      root.loops.push_back({roles[i] == kK, 64, roles[i]});
      const bool walks[] = {roles[i] != kN, roles[i] != kM, roles[i] != kK};
      for (std::size_t o = 0; o < 3; ++o)
        if (walks[o]) {
          root.operands[o].loops.push_back(static_cast<int>(i));
          root.operands[o].type.shape.push_back(64);
        }
    }
    return contraction_loops(root).value().interchange;
  };
  EXPECT_THAT(interchange({kN, kM, kM, kK}), ElementsAre(1, 2, 0, 3));
  EXPECT_THAT(interchange({kM, kN, kM, kK}), ElementsAre(0, 2, 1, 3));
  EXPECT_THAT(interchange({kBatch, kN, kM, kK}), ElementsAre(0, 2, 1, 3));
  EXPECT_THAT(interchange({kBatch, kM, kM, kN, kN, kK}), IsEmpty());
}

TEST(LlvmCpuSpace, HasKnobsForEachLoopByRole) {
  std::vector<std::string> names;
  const space::Space space = space_of(batch_matmul(12, 128, 64, 128));
  for (const space::Knob& knob : space.knobs()) names.push_back(knob.name);
  EXPECT_THAT(names, ElementsAre("dist_b", "dist_m", "dist_n", "cache_m", "cache_n", "cache_k",
                                 "vec_m", "vec_n", "red_k", "peel"));
}

TEST(LlvmCpuSpace, NumbersLoopsThatShareARole) {
  problem::Operation root = matmul(64, 64, 64);
  // A (m0, m1, k): an image's rows and columns against a 1x1 filter.
  root.kind = problem::OperationKind::kContraction;
  root.loops = {{false, 16, problem::LoopRole::kM},
                {false, 16, problem::LoopRole::kM},
                {false, 64, problem::LoopRole::kN},
                {true, 64, problem::LoopRole::kK}};
  root.operands[0] = {{problem::ElementType::kF32, {16, 16, 64}}, {0, 1, 3}, false};
  root.operands[1] = {{problem::ElementType::kF32, {64, 64}}, {3, 2}, false};
  root.operands[2] = {{problem::ElementType::kF32, {16, 16, 64}}, {0, 1, 2}, true};
  const space::Space space = space_of(root);
  EXPECT_TRUE(space.knob_index("vec_m0").has_value());
  EXPECT_TRUE(space.knob_index("vec_m1").has_value());
  EXPECT_TRUE(space.knob_index("dist_n").has_value());
  EXPECT_FALSE(space.empty());
}

// m = n = k = 2: by hand. dist, vec in {1,2}; cache in {0} (only tiles between 2 and size-1);
// red in {1,2}; peel in {0,1}. vec <= dist leaves (1,1) (2,1) (2,2), three pairs a loop. Every tile
// divides, so peel = 0. 3 * 3 * 2 = 18.
TEST(LlvmCpuSpace, CountsTheHardSpaceOfATinyMatmul) {
  const space::Space space = hard_space_of(matmul(2, 2, 2));
  EXPECT_EQ(space.count().value, 18U);
  EXPECT_TRUE(space.count().exact);
}

// m = 3: dist in {1,2,3}, cache in {0,2}, vec in {1,2,3}. (cache, dist, vec) with cache < dist and
// vec <= block: cache 0: dist 1 vec 1; dist 2 vec 1,2; dist 3 vec 1,2,3; cache 2: dist 3 vec 1,2.
// 8 triples; those without a remainder: (0,1,1) (0,3,1) (0,3,3); with: (0,2,*) leaves 3 % 2,
// (0,3,2) 3 % 2, (2,3,*) 3 % 2: five. n = k = 1: one way each. Peeling doubles the five: 13.
TEST(LlvmCpuSpace, OffersPeelingOnlyWhereATileLeavesARemainder) {
  EXPECT_EQ(hard_space_of(matmul(3, 1, 1)).count().value, 13U);
}

// 64x64x64, one core, soft rules on. Vectors: lanes 16, so vec_n in {16,32,64}; of them 1..4
// registers and all divide. vec_m * vec_n/16 >= 16 and with vec_n/16 + 1 more <= 32, loads
// 4 (vec_m + vec_n/16) <= 3 vec_m vec_n/16, vec_m in {1,2,4,8,16,32}:
//   vec_n 16: vec_m >= 16, loads 4 (16 + 1) = 68 > 48 no; 32: 33 + ... > 32 no.
//   vec_n 32: vec_m 8: 16 accumulators, 40 <= 48 yes; 16: 32 + 3 registers no.
//   vec_n 64: vec_m 4: 16, 32 <= 48 yes; 8: 32 + 5 no.
// red_k * 16 <= 128: 1, 2, 4, 8. cache_k: 0 or 32; both hold all red_k. cache_m, cache_n: 0.
// Block reuse: wanted min(32, 64*64/128/2 = 16): dist_m dist_n >= 16 (dist_m + dist_n).
// Work: at least min(2^20, 2^18 / 2 = 2^17) multiply-adds: dist_m dist_n >= 2048.
//   vec 8x32: dist_m in {8,16,32,64}, dist_n in {32,64}: products >= 2048: 32x64 (2048 >= 1536),
//             64x32, 64x64: 3.
//   vec 4x64: dist_n 64, dist_m 32 or 64: 2.
// (3 + 2) * 4 red * 2 cache_k = 40.
TEST(LlvmCpuSpace, CountsTheSoftSpaceOfASmallMatmul) {
  EXPECT_EQ(space_of(matmul(64, 64, 64)).count().value, 40U);
}

// Two threads: 64x64 is one workgroup, which leaves one of them idle; half the work, 2^18 / 4 =
// 2^16 multiply-adds, is enough, so that dist_m dist_n >= 1024: 8x32 has 32x64, 64x32, 32x32 (1024
// >= 16 * 64), 4x64 has 32x64. (3 + 1) * 4 * 2 = 32.
TEST(LlvmCpuSpace, KeepsAllThreadsBusy) {
  EXPECT_EQ(space_of(matmul(64, 64, 64), 2).count().value, 32U);
}

TEST(LlvmCpuSpace, StaysWithinAFewThousandForTheBenchmarkContractions) {
  using problem::ElementType;
  const std::map<std::string, space::Space> spaces = {
      {"512^3", space_of(matmul(512, 512, 512), 2)},
      {"1024^3", space_of(matmul(1024, 1024, 1024), 2)},
      {"384x512x1536", space_of(matmul(384, 512, 1536), 2)},
      {"f16", space_of(matmul(2048, 1280, 1280, ElementType::kF16), 2)},
      {"gelu", space_of(matmul(128, 3072, 768), 2, true)}};
  for (const auto& [name, space] : spaces) {
    EXPECT_GE(space.count().value, 500U) << name;
    EXPECT_LE(space.count().value, 3000U) << name;
    EXPECT_GE(space.relax({"all"})->count().value, 10'000'000U) << name;
  }
}

TEST(LlvmCpuSpace, HoldsTheFastestKnownConfigurations) {
  const auto legal = [](const space::Space& space, const std::string& text) {
    EXPECT_THAT(broken(space, text), IsEmpty()) << text;
  };
  legal(space_of(matmul(512, 512, 512), 2),
        "dist_m=64,dist_n=256,cache_m=0,cache_n=0,cache_k=0,vec_m=8,vec_n=32,red_k=4,peel=0");
  legal(space_of(matmul(1024, 1024, 1024), 2),
        "dist_m=128,dist_n=1024,cache_m=0,cache_n=0,cache_k=32,vec_m=8,vec_n=32,red_k=4,peel=0");
  legal(space_of(matmul(384, 512, 1536), 2),
        "dist_m=192,dist_n=512,cache_m=0,cache_n=0,cache_k=128,vec_m=8,vec_n=32,red_k=4,peel=0");
  legal(space_of(matmul(2048, 1280, 1280, problem::ElementType::kF16), 2),
        "dist_m=128,dist_n=1280,cache_m=0,cache_n=0,cache_k=64,vec_m=4,vec_n=64,red_k=8,peel=0");
  legal(space_of(matmul(128, 3072, 768), 2, true),
        "dist_m=128,dist_n=64,cache_m=0,cache_n=0,cache_k=128,vec_m=8,vec_n=32,red_k=1,peel=0");
}

// The compiler's default: 8 accumulators of one register each. It is legal, and soft rules say why
// it is slow.
TEST(LlvmCpuSpace, SaysWhatIsSlowAboutTheCompilersDefault) {
  EXPECT_THAT(
      broken(space_of(matmul(1024, 1024, 1024)),
             "dist_m=64,dist_n=64,cache_m=0,cache_n=0,cache_k=0,vec_m=8,vec_n=16,red_k=16,peel=0"),
      UnorderedElementsAre("accumulators_fill_registers", "loads_below_multiplies",
                           "k_block_within_pages"));
}

TEST(LlvmCpuSpace, KnowsTheCompilersLimitOnVectors) {
  const space::Space space = hard_space_of(matmul(64, 64, 64));
  // 8 * 32 * 32 * 4 bytes = 32768: refused. 16 steps: 16384.
  const std::string tiles = "dist_m=64,dist_n=64,cache_m=0,cache_n=0,cache_k=0,vec_m=8,vec_n=32,";
  EXPECT_THAT(broken(space, tiles + "red_k=32,peel=0"),
              ElementsAre("vectors_within_compiler_limit"));
  EXPECT_THAT(broken(space, tiles + "red_k=16,peel=0"), IsEmpty());
}

TEST(LlvmCpuSpace, KeepsABlockedAccumulatorOnTheStackOnlyWhereSomethingReadsIt) {
  const std::string blocked =
      "dist_m=128,dist_n=128,cache_m=0,cache_n=0,cache_k=64,vec_m=8,vec_n=32,red_k=1,peel=0";
  // 128 * 128 * 4 bytes = 65536 > 32768.
  EXPECT_THAT(broken(hard_space_of(matmul(128, 256, 256), true), blocked),
              ElementsAre("accumulator_fits_stack"));
  EXPECT_THAT(broken(hard_space_of(matmul(128, 256, 256), false), blocked), IsEmpty());
}

// Products of ResNet-50 (im2col, 256x196x2304 with a relu), where every configuration that was
// tried needed too much stack. What is said of each is what IREE 3.13 did.
TEST(LlvmCpuSpace, CountsTheCopiesOfABlockThatTilesDoNotDivide) {
  const space::Space space = space_of(matmul(256, 196, 2304), 2, true);
  const auto refuses = [&](const std::string& tiles) {
    const std::set<std::string> rules =
        broken(space, tiles + ",cache_k=384,vec_m=8,vec_n=32,red_k=1");
    return rules.contains("ragged_block_fits_stack");
  };
  EXPECT_TRUE(refuses("dist_m=64,dist_n=98,cache_m=0,cache_n=0,peel=1"));  // 50176 bytes
  EXPECT_TRUE(refuses("dist_m=64,dist_n=98,cache_m=0,cache_n=0,peel=0"));
  EXPECT_TRUE(refuses("dist_m=64,dist_n=96,cache_m=0,cache_n=0,peel=0"));      // 49152
  EXPECT_TRUE(refuses("dist_m=128,dist_n=98,cache_m=64,cache_n=49,peel=1"));   // 37632
  EXPECT_TRUE(refuses("dist_m=128,dist_n=128,cache_m=64,cache_n=64,peel=1"));  // 65024
  EXPECT_FALSE(refuses("dist_m=32,dist_n=98,cache_m=0,cache_n=0,peel=1"));
  EXPECT_FALSE(refuses("dist_m=64,dist_n=49,cache_m=0,cache_n=0,peel=1"));
  EXPECT_FALSE(refuses("dist_m=64,dist_n=64,cache_m=0,cache_n=0,peel=1"));
  EXPECT_FALSE(refuses("dist_m=128,dist_n=98,cache_m=64,cache_n=32,peel=1"));
  EXPECT_FALSE(refuses("dist_m=128,dist_n=192,cache_m=32,cache_n=96,peel=0"));
  // Nothing reads the result: it is no buffer of its own.
  const space::Space bare = space_of(matmul(256, 196, 2304), 2, false);
  EXPECT_THAT(broken(bare,
                     "dist_m=64,dist_n=98,cache_m=0,cache_n=0,peel=1,cache_k=384,vec_m=8,"
                     "vec_n=32,red_k=1"),
              Not(Contains("ragged_block_fits_stack")));
}

TEST(LlvmCpuSpace, ExplainsWithNumbers) {
  const space::Space space = space_of(matmul(64, 64, 64));
  const auto configuration = space::parse_configuration(
      space, "dist_m=64,dist_n=64,cache_m=0,cache_n=0,cache_k=0,vec_m=12,vec_n=32,red_k=1,peel=0");
  const auto violations = space.check(configuration.value());
  ASSERT_EQ(violations.size(), 1U);
  EXPECT_EQ(violations[0].constraint, "tiles_divide");
  EXPECT_THAT(violations[0].reason, HasSubstr("12"));
}

// 16 registers of 8 lanes: 6x16 gives 12 accumulators, + 2 + 1 <= 16.
TEST(LlvmCpuSpace, KnowsASmallerRegisterFile) {
  problem::CpuTarget avx2 = avx512(1);
  avx2.vector_bits = 256;
  avx2.vector_registers = 16;
  const space::Space space = llvm_cpu_contraction_space(matmul(96, 96, 96), avx2).value();
  const std::string tiles = "dist_m=96,dist_n=96,cache_m=0,cache_n=0,cache_k=0,";
  EXPECT_THAT(broken(space, tiles + "vec_m=6,vec_n=16,red_k=1,peel=0"), IsEmpty());
  EXPECT_THAT(broken(space, tiles + "vec_m=8,vec_n=16,red_k=1,peel=0"),
              ElementsAre("accumulators_fit_registers"));
}

// 333 = 9 x 37: all rules together leave two configurations, and tiles_divide alone stands in the
// way of a search.
TEST(LlvmCpuSpace, LetsARuleGiveWayWhereTooFewAreLeft) {
  const space::Space space = space_of(matmul(250, 333, 509));
  EXPECT_GE(space.count().value, 1000U);
  std::set<std::string> names;
  for (const space::Constraint& constraint : space.constraints()) names.insert(constraint.name);
  EXPECT_EQ(names.count("tiles_divide"), 0U);
  EXPECT_EQ(names.count("lanes_filled"), 1U);
  EXPECT_EQ(names.count("accumulators_fill_registers"), 1U);
}

// 127 has no divisors: no tile of 16 accumulators divides it, so tiles_divide gives way, and all
// other rules stay.
TEST(LlvmCpuSpace, LetsARuleGiveWayWhereNothingIsLeft) {
  const space::Space space = space_of(matmul(127, 127, 127));
  EXPECT_GT(space.count().value, 0U);
  std::set<std::string> names;
  for (const space::Constraint& constraint : space.constraints()) names.insert(constraint.name);
  EXPECT_EQ(names.count("tiles_divide"), 0U);
  EXPECT_EQ(names.count("lanes_filled"), 1U);
  for (const problem::Operation& root :
       {matmul(1, 4096, 4096), matmul(7, 13, 11), matmul(1, 1, 1), batch_matmul(3, 40, 64, 48)})
    EXPECT_FALSE(space_of(root, 2).empty()) << describe(root);
}

TEST(LlvmCpuSpace, RefusesWhatItCannotTile) {
  problem::Operation dynamic = matmul(problem::kDynamic, 64, 64);
  EXPECT_THAT(llvm_cpu_contraction_space(dynamic, avx512(1)).error().message,
              HasSubstr("only at run time"));
  problem::Operation reduction = matmul(64, 64, 64);
  reduction.kind = problem::OperationKind::kReduction;
  EXPECT_THAT(llvm_cpu_contraction_space(reduction, avx512(1)).error().message,
              HasSubstr("not a contraction"));
  problem::CpuTarget scalar = avx512(1);
  scalar.vector_bits = 32;
  EXPECT_FALSE(llvm_cpu_contraction_space(matmul(64, 64, 64), scalar).has_value());
}

}  // namespace
}  // namespace hone::iree
