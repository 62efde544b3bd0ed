// What lies just outside of each hard rule of the spaces for CPUs.
#include <gmock/gmock.h>

#include <set>

#include "provider/iree/cpu/space.h"
#include "space/configuration.h"
#include "tests/provider/contractions.h"
#include "tests/provider/convolutions.h"

namespace hone::iree {
namespace {

using space::Space;
using testing::ElementsAre;
using testing::HasSubstr;

std::set<std::string> names(const Space& space, space::Hardness hardness) {
  std::set<std::string> found;
  for (const space::Constraint& each : space.constraints())
    if (each.hardness == hardness) found.insert(each.name);
  return found;
}

// The soft rules of `usual` that `outside` is without.
std::vector<std::string> left_out(const Space& usual, const Space& outside) {
  const auto kept = names(outside, space::Hardness::kSoft);
  std::vector<std::string> gone;
  for (const std::string& name : names(usual, space::Hardness::kSoft))
    if (kept.count(name) == 0) gone.push_back(name);
  return gone;
}

// For each hard rule of `make({})`: every one of 20 samples outside breaks it, no other hard rule,
// and no soft one but those that were left out. The rules that leave something.
template <class Make>
std::set<std::string> audit(const Make& make) {
  const Space usual = make({}).value();
  std::set<std::string> audited;
  for (const std::string& rule : names(usual, space::Hardness::kHard)) {
    const auto outside = make(rule);
    EXPECT_TRUE(outside) << rule << ": " << outside.error().message;
    if (!outside || outside->empty()) continue;
    audited.insert(rule);
    std::set<std::string> may_break = {rule};
    for (const std::string& soft : left_out(usual, *outside)) may_break.insert(soft);
    const std::vector<space::Configuration> samples = outside->samples(20, 1).value();
    for (const space::Configuration& each : samples) {
      std::set<std::string> broken;
      for (const space::Violation& violation : usual.check(each))
        broken.insert(violation.constraint);
      EXPECT_EQ(broken.count(rule), 1U) << rule << ": " << space::to_string(*outside, each);
      EXPECT_THAT(broken, testing::IsSubsetOf(may_break)) << space::to_string(*outside, each);
    }
  }
  return audited;
}

auto contraction(problem::Operation root, bool fused = false) {
  return [root = std::move(root), fused](std::string_view rule) {
    return llvm_cpu_contraction_space(root, avx512(2), {.fused_consumers = fused}, rule);
  };
}

problem::Dispatch elementwise(std::int64_t rows, std::int64_t columns) {
  const problem::TensorType type{problem::ElementType::kF32, {rows, columns}};
  problem::Dispatch dispatch;
  dispatch.root.kind = problem::OperationKind::kElementwise;
  dispatch.root.name = "linalg.generic";
  dispatch.root.loops = {{false, rows}, {false, columns}};
  dispatch.root.operands = {{type, {0, 1}, false}, {type, {0, 1}, true}};
  return dispatch;
}

TEST(AuditedRule, IsBrokenAloneInContractions) {
  EXPECT_THAT(audit(contraction(matmul(256, 256, 256))),
              ElementsAre("cache_tile_below_distribution", "peeling_needs_remainders",
                          "vector_tile_within_block", "vectors_within_compiler_limit"));
  EXPECT_THAT(audit(contraction(matmul(128, 3072, 768), true)),
              ElementsAre("accumulator_fits_stack", "cache_tile_below_distribution",
                          "peeling_needs_remainders", "vector_tile_within_block",
                          "vectors_within_compiler_limit"));
  audit(contraction(matmul(127, 91, 63)));
  audit(contraction(batch_matmul(3, 40, 64, 48)));
  audit(contraction(matmul(1, 512, 512)));
}

TEST(AuditedRule, IsBrokenAloneInConvolutions) {
  for (const problem::Operation& root :
       {nhwc_convolution(2, 14, 14, 32, 3, 3, 16), depthwise_convolution(1, 14, 14, 96, 3, 3)})
    EXPECT_THAT(audit([&](std::string_view rule) {
                  return llvm_cpu_convolution_space(root, avx512(2), rule);
                }),
                testing::IsSupersetOf({"peeling_needs_remainders", "vector_tile_within_block"}));
}

TEST(AuditedRule, IsBrokenAloneInWhatIsNoContraction) {
  for (const auto& [rows, columns] : {std::pair(128, 256), {77, 45}}) {
    const problem::Dispatch dispatch = elementwise(rows, columns);
    EXPECT_THAT(audit([&](std::string_view rule) {
                  return llvm_cpu_generic_space(dispatch, avx512(2), rule);
                }),
                testing::IsSupersetOf({"peeling_needs_remainders", "vector_tile_within_block"}));
  }
}

// As CountsTheHardSpaceOfATinyMatmul: of the pairs (dist, vec) of m only (1, 2) breaks the rule,
// and the three others keep it; so for n. 4 * 4 - 3 * 3 pairs, two red_k; block 1 is no multiple of
// vector tile 2, so peel may be either. 7 * 2 * 2 = 28.
TEST(AuditedRule, LeavesWhatOtherRulesLeave) {
  const Space outside = contraction(matmul(2, 2, 2))("vector_tile_within_block").value();
  EXPECT_EQ(outside.relax({"all"}).value().count().value, 28U);
}

// As CountsTheSoftSpaceOfASmallMatmul, where every tile divides: what is not peeled there is peeled
// here. One core: 40.
TEST(AuditedRule, KeepsSoftRulesThatSayNothingAboutIt) {
  const auto make = [](std::string_view rule) {
    return llvm_cpu_contraction_space(matmul(64, 64, 64), avx512(1), {}, rule);
  };
  const Space outside = make("peeling_needs_remainders").value();
  EXPECT_THAT(left_out(make({}).value(), outside), testing::IsEmpty());
  EXPECT_EQ(outside.count().value, 40U);
}

// 8192 f32 elements and more: 8x32 and 4x64 take 32 steps and more, which only unrolled_code_small
// forbids. Of k blocks there are none (red_k 32 or 64) and 32 (red_k 32): 5 outer tiles * 3 = 15.
TEST(AuditedRule, LeavesOutTheSoftRulesThatItNeedsBrokenAndNoOthers) {
  const auto make = [](std::string_view rule) {
    return llvm_cpu_contraction_space(matmul(64, 64, 64), avx512(1), {}, rule);
  };
  const Space outside = make("vectors_within_compiler_limit").value();
  EXPECT_THAT(left_out(make({}).value(), outside), ElementsAre("unrolled_code_small"));
  EXPECT_EQ(outside.count().value, 15U);
  // Cache tiles are kept from a bare matmul, and this rule is about nothing else.
  EXPECT_THAT(left_out(make({}).value(), make("cache_tile_below_distribution").value()),
              ElementsAre("cache_tile_only_where_needed"));
}

TEST(AuditedRule, ThatIsUnknownNamesThoseThereAre) {
  const auto contraction_error =
      llvm_cpu_contraction_space(matmul(64, 64, 64), avx512(1), {}, "no such rule").error();
  EXPECT_EQ(contraction_error.kind, ErrorKind::kInput);
  EXPECT_EQ(contraction_error.message,
            "'no such rule' is none of the hard rules here: vector_tile_within_block; "
            "cache_tile_below_distribution; vectors_within_compiler_limit; "
            "peeling_needs_remainders");
  // A soft one is dropped by relax().
  EXPECT_THAT(llvm_cpu_convolution_space(nhwc_convolution(2, 14, 14, 32, 3, 3, 16), avx512(1),
                                         "sums_in_flight")
                  .error()
                  .message,
              HasSubstr("'sums_in_flight' is none of the hard rules here: vector_tile_within"));
  problem::Dispatch dispatch = elementwise(128, 256);
  EXPECT_THAT(
      llvm_cpu_generic_space(dispatch, avx512(1), "cache_tile_below_distribution").error().message,
      HasSubstr("vectors_within_compiler_limit; peeling_needs_remainders"));
}

}  // namespace
}  // namespace hone::iree
