#include <gtest/gtest.h>

#include "measure/runner.h"
#include "tests/measure/runner_problem.h"

namespace hone::measure {
namespace {

using namespace hone::test;

Result<std::unique_ptr<device::Device>> no_device(const device::Address&) {
  return environment_error("there is none");
}

TEST(ProblemsAhead, HandsOverWhatWasBegunOnce) {
  ProblemRequest request = problem_request(matmul(8, 8, 8));
  ProblemsAhead ahead;
  EXPECT_FALSE(ahead.take(request));
  ahead.begin(request, no_device);
  ProblemRequest other = request;
  other.seed = request.seed + 1;
  EXPECT_FALSE(ahead.take(other));
  const auto prepared = ahead.take(request);
  ASSERT_TRUE(prepared && *prepared);
  EXPECT_EQ((*prepared)->reference, "exact");
  EXPECT_FALSE(ahead.take(request));
}

TEST(ProblemsAhead, PreparesSeveralAndForgetsThoseThatWerePassedOver) {
  ProblemsAhead ahead;
  const auto of_seed = [](std::uint64_t seed) {
    ProblemRequest request = problem_request(matmul(8, 8, 8));
    request.seed = seed;
    return request;
  };
  for (std::uint64_t seed = 0; seed <= ProblemsAhead::kMost; ++seed)
    ahead.begin(of_seed(seed), no_device);
  EXPECT_FALSE(ahead.take(of_seed(0)));  // the oldest of five made room
  EXPECT_TRUE(ahead.take(of_seed(2)));
  EXPECT_FALSE(ahead.take(of_seed(1)));
  EXPECT_TRUE(ahead.take(of_seed(3)));
  EXPECT_TRUE(ahead.take(of_seed(4)));
}

TEST(ProblemsAhead, LeavesWhatIsTooLargeForTheMemory) {
  ProblemRequest request = problem_request(matmul(8, 8, 8));
  request.dispatch.bindings.front().bytes = std::int64_t{1} << 50;
  ProblemsAhead ahead;
  ahead.begin(request, no_device);
  EXPECT_FALSE(ahead.take(request));
}

}  // namespace
}  // namespace hone::measure
