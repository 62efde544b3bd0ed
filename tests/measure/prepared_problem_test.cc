#include <gtest/gtest.h>

#include "measure/runner.h"
#include "tests/measure/runner_problem.h"

namespace hone::measure {
namespace {

using namespace hone::test;

Result<std::unique_ptr<device::Device>> no_device(const device::Address&) {
  return environment_error("there is none");
}

TEST(ProblemAhead, HandsOverWhatWasBegunOnce) {
  ProblemRequest request = problem_request(matmul(8, 8, 8));
  ProblemAhead ahead;
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

TEST(ProblemAhead, LeavesWhatIsTooLargeForTheMemory) {
  ProblemRequest request = problem_request(matmul(8, 8, 8));
  request.dispatch.bindings.front().bytes = std::int64_t{1} << 50;
  ProblemAhead ahead;
  ahead.begin(request, no_device);
  EXPECT_FALSE(ahead.take(request));
}

}  // namespace
}  // namespace hone::measure
