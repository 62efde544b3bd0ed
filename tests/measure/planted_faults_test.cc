// Faults that only show when a kernel runs: in its memory, between its launches, in what its
// operands are. Each planted in real code, caught, and placed.
#include <gmock/gmock.h>

#include <cmath>
#include <cstring>

#include "tests/measure/runner_problem.h"

namespace hone::measure {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using namespace hone::test;

class PlantedFaults : public testing::Test {
 protected:
  // Of a kernel for an 8x8x8 matmul, one workgroup for each row i, that ends with `after`.
  Verification verify(const std::string& after,
                      const problem::Dispatch& dispatch = matmul(8, 8, 8)) {
    const auto ready = runner_.set_problem(problem_request(dispatch));
    EXPECT_TRUE(ready) << ready.error().message;
    return runner_.verify(runner_.load(matmul_8(after)).value()).value();
  }

  Runner runner_ = cpu_runner();
};

TEST_F(PlantedFaults, ARaceThatLosesOneUpdateInOneOfTwoRuns) {
  const Verification verification = verify(
      "static int runs; if (i == 5 && runs++ % 2 == 1) c[i * 8 + 2] -= a[i * 8 + 7] * b[7 * 8 + "
      "2];");
  EXPECT_FALSE(verification.right);
  EXPECT_THAT(verification.first_bad, ElementsAre(5, 2));
  EXPECT_EQ(verification.bad_share, 1.0 / 64);
}

TEST_F(PlantedFaults, TheFirstRunIsRightOnly) {
  const Verification verification =
      verify("static int runs; if (i == 3 && runs++ > 0) c[i * 8 + 1] = 0;");
  EXPECT_THAT(verification.first_bad, ElementsAre(3, 1));
}

// Two verified launches are right, and so are 47 more; the 50th adds a term twice.
TEST_F(PlantedFaults, ARaceInOneOfFiftyLaunchesIsCaughtByRepeating) {
  ASSERT_TRUE(runner_.set_problem(problem_request(matmul(8, 8, 8))));
  const int handle = runner_
                         .load(matmul_8("static int runs; if (i == 5 && ++runs % 50 == 0) "
                                        "c[i * 8 + 2] += a[i * 8] * b[2] + 1;"))
                         .value();
  ASSERT_TRUE(runner_.verify(handle)->right);
  const auto once = runner_.repeat({.handle = handle, .launches = 1, .max_seconds = 10});
  EXPECT_TRUE(once->verification.right);
  EXPECT_EQ(once->compared, 1);
  const auto repeated =
      runner_.repeat({.handle = handle, .launches = kComparedLaunches, .max_seconds = 60});
  ASSERT_TRUE(repeated) << repeated.error().message;
  EXPECT_FALSE(repeated->verification.right);
  EXPECT_EQ(repeated->compared, 47);
  EXPECT_EQ(repeated->verification.binding, 2);
  EXPECT_THAT(repeated->verification.first_bad, ElementsAre(5, 2));
  EXPECT_THAT(repeated->verification.message,
              testing::AllOf(HasSubstr("first at [5, 2]"), HasSubstr("in launch 47")));
}

TEST_F(PlantedFaults, OfManyLaunchesEachStartsFromTheSameContents) {
  problem::Dispatch dispatch = matmul(8, 8, 8);
  dispatch.fused = {};
  dispatch.bindings[2].access = problem::Access::kReadWrite;
  ASSERT_TRUE(runner_.set_problem(problem_request(dispatch)));
  provider::Artifact accumulates = matmul_8();
  accumulates.code = kernel_library(R"(
      float* a = dispatch->bindings[0]; float* b = dispatch->bindings[1];
      float* c = dispatch->bindings[2]; int i = workgroup->x;
      for (int j = 0; j < 8; ++j)
        for (int k = 0; k < 8; ++k) c[i * 8 + j] += a[i * 8 + k] * b[k * 8 + j];)",
                                    {.bindings = 3});
  const int handle = runner_.load(accumulates).value();
  const auto right = runner_.repeat({.handle = handle, .launches = 20, .max_seconds = 60});
  EXPECT_TRUE(right->verification.right) << right->verification.message;
  EXPECT_EQ(right->compared, 20);
  // Time that is over leaves one launch.
  EXPECT_EQ(runner_.repeat({.handle = handle, .launches = 20, .max_seconds = 0})->compared, 1);
}

TEST_F(PlantedFaults, RepeatingLooksAtGuardsInputsAndWhatIsNotWritten) {
  ASSERT_TRUE(runner_.set_problem(problem_request(matmul(8, 8, 8))));
  const auto repeat = [this](const std::string& after) {
    const int handle = runner_.load(matmul_8(after)).value();
    return runner_.repeat({.handle = handle, .launches = 3, .max_seconds = 60})->verification;
  };
  EXPECT_THAT(repeat("if (i == 7) c[64] = 1;").broken_guards, ElementsAre(2));
  EXPECT_THAT(repeat("if (i == 0) a[63] = -a[63];").changed_inputs, ElementsAre(0));
  provider::Artifact skips = matmul_8();
  skips.launch.grid = {7, 1, 1};
  const auto skipped =
      runner_.repeat({.handle = runner_.load(skips).value(), .launches = 3, .max_seconds = 60});
  EXPECT_THAT(skipped->verification.first_bad, ElementsAre(7, 0));
}

TEST_F(PlantedFaults, ReadsMemoryThatNobodyInitialised) {
  // Row 6 starts from what the output held.
  provider::Artifact artifact = matmul_8();
  ASSERT_TRUE(runner_.set_problem(problem_request(matmul(8, 8, 8))));
  artifact.code = kernel_library(R"(
      float* a = dispatch->bindings[0]; float* b = dispatch->bindings[1];
      float* c = dispatch->bindings[2]; int i = workgroup->x;
      for (int j = 0; j < 8; ++j) {
        float sum = i == 6 ? c[i * 8 + j] : 0;
        for (int k = 0; k < 8; ++k) sum += a[i * 8 + k] * b[k * 8 + j];
        c[i * 8 + j] = sum;
      })",
                                 {.bindings = 3});
  const auto verification = runner_.verify(runner_.load(artifact).value());
  EXPECT_FALSE(verification->right);
  EXPECT_THAT(verification->first_bad, ElementsAre(6, 0));
  EXPECT_TRUE(std::isnan(verification->got));
}

TEST_F(PlantedFaults, ReadsBehindAnInput) {
  // One term too many: the last row reads past the end of A, and gets NaN, not a harmless number.
  const Verification verification =
      verify("if (i == 7) for (int j = 0; j < 8; ++j) c[i * 8 + j] += a[i * 8 + 8] * b[j];");
  EXPECT_FALSE(verification.right);
  EXPECT_THAT(verification.first_bad, ElementsAre(7, 0));
  EXPECT_EQ(verification.outputs.at(0).comparison.nan_count, 8);
}

TEST_F(PlantedFaults, WritesNaNBehindTheOutput) {
  const Verification verification = verify("if (i == 7) c[64] = __builtin_nanf(\"\");");
  EXPECT_FALSE(verification.right);
  EXPECT_THAT(verification.broken_guards, ElementsAre(2));
}

TEST_F(PlantedFaults, WritesFarBehindTheOutputCrashesInsteadOfHittingOtherMemory) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(verify("if (i == 7) c[16384] = 1;"), "");
}

TEST_F(PlantedFaults, WritesToItsInput) {
  const Verification verification = verify("if (i == 0) a[63] = -a[63];");
  EXPECT_FALSE(verification.right);
  EXPECT_THAT(verification.changed_inputs, ElementsAre(0));
}

// Binding 1 times binding 0, as the IR says: with square operands, shapes cannot tell.
TEST_F(PlantedFaults, OperandsInTheWrongOrder) {
  problem::Dispatch swapped = matmul(8, 8, 8);
  swapped.root_bindings = {1, 0, 2};
  const std::string b_times_a =
      "for (int j = 0; j < 8; ++j) { float sum = 0; for (int k = 0; k < 8; ++k) "
      "sum += b[i * 8 + k] * a[k * 8 + j]; c[i * 8 + j] = sum; }";
  EXPECT_TRUE(verify(b_times_a, swapped).right);
  const Verification a_times_b = verify("", swapped);
  EXPECT_FALSE(a_times_b.right);
  EXPECT_THAT(a_times_b.first_bad, ElementsAre(0, 0));
}

TEST_F(PlantedFaults, ForgetsWhatTheOutputIsFilledWith) {
  problem::Dispatch filled = matmul(8, 8, 8);
  filled.fill_value = 3;
  const Verification right = verify("for (int j = 0; j < 8; ++j) c[i * 8 + j] += 3;", filled);
  EXPECT_TRUE(right.right) << right.message;
  EXPECT_THAT(right.tolerance, HasSubstr("exact"));
  const Verification forgets = verify("", filled);
  EXPECT_THAT(forgets.first_bad, ElementsAre(0, 0));
  EXPECT_EQ(forgets.got, forgets.expected - 3);
  // Sums that begin at a tenth are rounded, in any order: no false alarm, but no blind eye either.
  filled.fill_value = 0.1;
  EXPECT_TRUE(verify("for (int j = 0; j < 8; ++j) c[i * 8 + j] += 0.1f;", filled).right);
  EXPECT_FALSE(verify("for (int j = 0; j < 8; ++j) c[i * 8 + j] += 0.2f;", filled).right);
}

// The program's buffer is larger than the tensor in it: the rest belongs to somebody else.
TEST_F(PlantedFaults, WritesBehindTheTensorInsideTheBuffer) {
  problem::Dispatch larger = matmul(8, 8, 8);
  larger.bindings[2].bytes += 64;
  larger.root_bindings = {0, 1, 2};
  const Verification right = verify("", larger);
  EXPECT_TRUE(right.right) << right.message;
  const Verification beyond = verify("if (i == 7) c[70] = 1;", larger);
  EXPECT_FALSE(beyond.right);
  EXPECT_THAT(beyond.first_bad, ElementsAre(70));
  EXPECT_EQ(beyond.wrongly_written, 1);
}

TEST_F(PlantedFaults, EveryOutputIsReported) {
  const Verification verification = verify("if (i == 3) c[i * 8 + 5] += 1;");
  ASSERT_EQ(verification.outputs.size(), 1u);
  EXPECT_EQ(verification.outputs[0].binding, 2);
  EXPECT_EQ(verification.outputs[0].comparison.bad, 1);
  EXPECT_EQ(verification.outputs[0].comparison.worst_error, 1);
  const auto outputs = runner_.outputs();
  EXPECT_THAT(outputs->bindings, ElementsAre(2));
  EXPECT_EQ(outputs->bytes.at(0).size(), 256u);
}

// Inputs and outputs that the user gives.
class GivenData : public PlantedFaults {
 protected:
  static std::string bytes_of(const std::vector<float>& values) {
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
  }

  ProblemRequest request_ = problem_request(matmul(8, 8, 8));
};

TEST_F(GivenData, IntegersAreExact) {
  request_.inputs = {bytes_of(std::vector<float>(64, 2)), bytes_of(std::vector<float>(64, 3)), ""};
  ASSERT_TRUE(runner_.set_problem(request_));
  const auto verification = runner_.verify(runner_.load(matmul_8()).value());
  EXPECT_TRUE(verification->right) << verification->message;
  EXPECT_THAT(verification->tolerance, HasSubstr("exact"));
  float first = 0;
  std::memcpy(&first, runner_.outputs()->bytes.at(0).data(), sizeof first);
  EXPECT_EQ(first, 8 * 2 * 3);
}

TEST_F(GivenData, RealsHaveTheToleranceOfTheirSums) {
  request_.inputs = {bytes_of(std::vector<float>(64, 0.1f)), bytes_of(std::vector<float>(64, 0.3f)),
                     ""};
  ASSERT_TRUE(runner_.set_problem(request_));
  const auto right = runner_.verify(runner_.load(matmul_8()).value());
  EXPECT_TRUE(right->right) << right->message;
  // Eight terms of 0.03, of one sign: twice sqrt(8) + 1 roundings of 2^-24, the products' included.
  EXPECT_THAT(right->tolerance, HasSubstr("values up to 0.24"));
  EXPECT_THAT(right->tolerance, HasSubstr("relative 4.56e-07"));
  const auto wrong = runner_.verify(runner_.load(matmul_8("if (i == 2) c[20] += 1e-5f;")).value());
  EXPECT_FALSE(wrong->right);
  EXPECT_THAT(wrong->first_bad, ElementsAre(2, 4));
}

TEST_F(GivenData, OutputsAreComparedWithThoseGiven) {
  std::vector<float> expected(64, 48);
  expected[9] = 47;
  request_.inputs = {bytes_of(std::vector<float>(64, 2)), bytes_of(std::vector<float>(64, 3)), ""};
  request_.expected = {"", "", bytes_of(expected)};
  EXPECT_EQ(runner_.set_problem(request_)->reference, "given");
  const int handle = runner_.load(matmul_8()).value();
  EXPECT_THAT(runner_.verify(handle)->first_bad, ElementsAre(1, 1));
  request_.tolerance = Tolerance{1, 0, "as given"};
  ASSERT_TRUE(runner_.set_problem(request_));
  EXPECT_TRUE(runner_.verify(runner_.load(matmul_8()).value())->right);
}

TEST_F(GivenData, OfAnotherSizeIsRefused) {
  request_.inputs = {std::string(300, 'x'), "", ""};
  EXPECT_EQ(runner_.set_problem(request_).error().message,
            "binding 0 of main_dispatch_0_matmul has 256 bytes, 300 are given for it");
}

}  // namespace
}  // namespace hone::measure
