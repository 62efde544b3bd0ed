#include "measure/runner.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "measure/launch_operands.h"
#include "tests/measure/runner_problem.h"

namespace hone::measure {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using namespace hone::test;

// A protocol that ends at once: these tests look at what is sampled, not at how long it takes.
Protocol quick() {
  return {.warm_up_seconds = 0,
          .max_warm_up_seconds = 0.001,
          .min_samples = 3,
          .max_samples = 6,
          .max_seconds = 0.5,
          .batch_seconds = 1e-4};
}

class RunnerTest : public testing::Test {
 protected:
  // Verifies a kernel for an 8x8x8 matmul that does `after` too.
  Verification verify(const std::string& after) {
    const auto ready = runner_.set_problem(problem_request(matmul(8, 8, 8)));
    EXPECT_TRUE(ready) << ready.error().message;
    const auto handle = runner_.load(matmul_8(after));
    EXPECT_TRUE(handle) << handle.error().message;
    const auto verification = runner_.verify(handle.value_or(0));
    EXPECT_TRUE(verification) << verification.error().message;
    return verification.value_or(Verification{});
  }

  nlohmann::json handle_job(const std::string& kind, const nlohmann::json& body) {
    const auto answer = measure::handle(runner_, {kind, body, {}});
    EXPECT_TRUE(answer) << answer.error().message;
    return answer ? answer->body : nlohmann::json();
  }

  Runner runner_ = cpu_runner();
};

TEST_F(RunnerTest, CalibratesBeforeAnyProblemAndLeavesOneAlone) {
  CalibrationRequest request;
  request.device = problem_request(matmul(8, 8, 8)).device;
  request.rounds = 8;
  const auto before = runner_.calibrate(request);
  ASSERT_TRUE(before) << before.error().message;
  EXPECT_THAT(before->a_seconds, SizeIs(8));
  EXPECT_THAT(before->b_seconds, SizeIs(8));
  EXPECT_THAT(before->a_seconds, testing::Each(testing::Gt(0)));
  EXPECT_THAT(before->after.cores, SizeIs(request.device.cores.size()));

  ASSERT_TRUE(runner_.set_problem(problem_request(matmul(8, 8, 8))));
  const int handle = runner_.load(matmul_8()).value();
  const auto answer = handle_job("calibrate", request);
  EXPECT_EQ(answer.get<Calibration>().b_seconds.size(), 8u);
  EXPECT_TRUE(runner_.verify(handle)->right);
  request.rounds = 0;
  EXPECT_FALSE(runner_.calibrate(request));
}

TEST_F(RunnerTest, ARightKernelIsRight) {
  const Verification verification = verify("");
  EXPECT_TRUE(verification.right) << verification.message;
  EXPECT_THAT(verification.message, IsEmpty());
  EXPECT_EQ(verification.largest_error, 0);
  EXPECT_THAT(verification.tolerance, HasSubstr("exact"));
  EXPECT_EQ(verification.absolute_tolerance, 0);
  EXPECT_EQ(verification.relative_tolerance, 0);
}

TEST_F(RunnerTest, OneElementOffIsShownWithItsPlaceAndShare) {
  const Verification verification = verify("if (i == 3) c[i * 8 + 5] += 1;");
  EXPECT_FALSE(verification.right);
  EXPECT_EQ(verification.binding, 2);
  EXPECT_THAT(verification.first_bad, ElementsAre(3, 5));
  EXPECT_EQ(verification.got, verification.expected + 1);
  EXPECT_EQ(verification.bad_share, 1.0 / 64);
  EXPECT_THAT(verification.message, HasSubstr("first at [3, 5]"));
}

TEST_F(RunnerTest, AnUnwrittenElementIsFoundWhateverWasThereBefore) {
  // Puts back what was in the buffer, as a kernel that skips the element leaves it.
  const Verification verification = verify("if (i == 7) c[63] = __builtin_nanf(\"0x1234\");");
  EXPECT_FALSE(verification.right);
  EXPECT_TRUE(std::isnan(verification.got));
  const Verification skipped = [this] {
    const auto ready = runner_.set_problem(problem_request(matmul(8, 8, 8)));
    EXPECT_TRUE(ready);
    provider::Artifact artifact = matmul_8();
    artifact.launch.grid = {7, 1, 1};
    return runner_.verify(runner_.load(artifact).value()).value();
  }();
  EXPECT_FALSE(skipped.right);
  EXPECT_THAT(skipped.first_bad, ElementsAre(7, 0));
  EXPECT_EQ(skipped.wrongly_written, 8);
  EXPECT_THAT(skipped.message, HasSubstr("8 elements of binding 2 are never written"));
}

TEST_F(RunnerTest, WritesOutsideTheOutputAreFoundOnBothSides) {
  const Verification behind = verify("if (i == 7) c[64] = 1;");
  EXPECT_FALSE(behind.right);
  EXPECT_THAT(behind.broken_guards, ElementsAre(2));
  EXPECT_THAT(behind.message, HasSubstr("outside of binding 2, at byte 256 of 256"));
  const Verification before = verify("if (i == 0) ((char*)c)[-1] = 1;");
  EXPECT_THAT(before.broken_guards, ElementsAre(2));
  EXPECT_THAT(before.message, HasSubstr("at byte -1"));
}

TEST_F(RunnerTest, WritesToAnInputAreFoundEvenWhenTheOutputIsRight) {
  const Verification verification = verify("if (i == 7) b[0] += 1;");
  EXPECT_FALSE(verification.right);
  EXPECT_THAT(verification.changed_inputs, ElementsAre(1));
}

TEST_F(RunnerTest, AResultThatIsRightInOneOfTwoRunsIsWrong) {
  EXPECT_FALSE(verify("static int calls; c[i * 8] += calls++ < 8;").right);
  EXPECT_FALSE(verify("static int calls; c[i * 8] += calls++ >= 8;").right);
}

TEST_F(RunnerTest, AFusedDispatchIsComparedWithTheReferenceArtifact) {
  problem::Dispatch dispatch = matmul(8, 8, 8);
  dispatch.fused = {"fill", "elementwise(arith.addf)"};
  const std::string add_one = "for (int j = 0; j < 8; ++j) c[i * 8 + j] += 1;";
  ProblemRequest request = problem_request(dispatch);
  EXPECT_THAT(runner_.set_problem(request).error().message, HasSubstr("reference"));
  request.reference = matmul_8(add_one);
  const auto ready = runner_.set_problem(request);
  ASSERT_TRUE(ready) << ready.error().message;
  EXPECT_EQ(ready->reference, "artifact");
  EXPECT_TRUE(runner_.verify(runner_.load(matmul_8(add_one)).value())->right);
  EXPECT_FALSE(runner_.verify(runner_.load(matmul_8()).value())->right);
}

TEST_F(RunnerTest, AProblemThatIsExpectedIsMadeReadyBesideTheOneBefore) {
  problem::Dispatch dispatch = matmul(8, 8, 8);
  dispatch.fused = {"fill", "elementwise(arith.addf)"};
  const std::string add_one = "for (int j = 0; j < 8; ++j) c[i * 8 + j] += 1;";
  ProblemRequest next = problem_request(dispatch);
  next.reference = matmul_8(add_one);
  ASSERT_TRUE(runner_.set_problem(problem_request(matmul(8, 8, 8))));
  const int handle = runner_.load(matmul_8()).value();
  ASSERT_TRUE(runner_.expect_problem(next));
  EXPECT_TRUE(runner_.verify(handle)->right);

  ASSERT_TRUE(runner_.set_problem(next));
  EXPECT_TRUE(runner_.verify(runner_.load(matmul_8(add_one)).value())->right);
  // Another than was expected is made by itself.
  ASSERT_TRUE(runner_.expect_problem(next));
  ASSERT_TRUE(runner_.set_problem(problem_request(matmul(8, 8, 8))));
  EXPECT_TRUE(runner_.verify(runner_.load(matmul_8()).value())->right);
}

TEST_F(RunnerTest, WhatIsOnlyTimedNeedsNoReferenceAndIsNotVerified) {
  problem::Dispatch dispatch = matmul(8, 8, 8);
  dispatch.fused = {"fill", "elementwise(arith.addf)"};
  ProblemRequest request = problem_request(dispatch);
  request.only_timed = true;
  ASSERT_TRUE(handle(runner_, jobs::kSetProblem.ask(request)));
  const int handle = runner_.load(matmul_8()).value();
  const auto measured =
      runner_.measure({.handles = {handle}, .sentinel = {}, .protocol = quick(), .best = {}});
  ASSERT_TRUE(measured) << measured.error().message;
  EXPECT_THAT(measured->handles.front().seconds, testing::Each(testing::Gt(0)));
  EXPECT_THAT(runner_.verify(handle).error().message, HasSubstr("without a reference"));
}

// Each operand has 2^20 elements of f32, of which 2^19 - 1 are drawn.
TEST(LaunchOperands, OfWhatIsOnlyTimedRepeat) {
  ProblemRequest request = problem_request(matmul(1024, 1024, 1024));
  const Buffers::Contents whole = (*launch_operands(request, 0)).front().contents;
  request.only_timed = true;
  const Buffers::Contents timed = (*launch_operands(request, 0)).front().contents;
  constexpr std::size_t kDrawn = 4 * ((std::size_t{1} << 19) - 1);
  ASSERT_EQ(timed[0].size(), whole[0].size());
  const std::span<const std::byte> first = std::span(timed[0]).first(kDrawn);
  EXPECT_TRUE(std::ranges::equal(first, std::span(whole[0]).first(kDrawn)));
  EXPECT_TRUE(std::ranges::equal(first, std::span(timed[0]).subspan(kDrawn, kDrawn)));
  EXPECT_FALSE(std::ranges::equal(first, std::span(whole[0]).subspan(kDrawn, kDrawn)));
}

// What the reference leaves alone must be left alone: a partial write, as into a cache.
TEST_F(RunnerTest, TheSetOfWrittenElementsMustBeTheReferences) {
  problem::Dispatch dispatch = matmul(8, 8, 8);
  dispatch.fused = {"fill", "tensor.insert_slice"};
  ProblemRequest request = problem_request(dispatch);
  request.reference = matmul_8();
  request.reference->launch.grid = {4, 1, 1};
  ASSERT_TRUE(runner_.set_problem(request));
  provider::Artifact same = matmul_8(), more = matmul_8();
  same.launch.grid = {4, 1, 1};
  EXPECT_TRUE(runner_.verify(runner_.load(same).value())->right);
  const auto verification = runner_.verify(runner_.load(more).value());
  EXPECT_FALSE(verification->right);
  EXPECT_EQ(verification->wrongly_written, 32);
}

TEST_F(RunnerTest, AReadWriteBindingStartsTheSameInEveryLaunch) {
  problem::Dispatch dispatch = matmul(8, 8, 8);
  dispatch.fused = {};
  dispatch.bindings[2].access = problem::Access::kReadWrite;
  ASSERT_TRUE(runner_.set_problem(problem_request(dispatch)));
  const auto accumulates = runner_.load({.format = "embedded-elf-x86_64",
                                         .code = kernel_library(R"(
      float* a = dispatch->bindings[0]; float* b = dispatch->bindings[1]; float* c = dispatch->bindings[2];
      for (int i = 0; i < 8; ++i) for (int j = 0; j < 8; ++j) for (int k = 0; k < 8; ++k)
        c[i * 8 + j] += a[i * 8 + k] * b[k * 8 + j];)",
                                                                {.bindings = 3}),
                                         .launch = {.entry = "kernel", .constants = {}},
                                         .configured = ""});
  ASSERT_TRUE(accumulates);
  for (int i = 0; i < 3; ++i) {
    const auto verification = runner_.verify(*accumulates);
    EXPECT_TRUE(verification->right) << verification->message;
  }
}

TEST_F(RunnerTest, MeasuresInterleavedWithTheSentinelInEveryRound) {
  ASSERT_TRUE(runner_.set_problem(problem_request(matmul(8, 8, 8))));
  const int one = runner_.load(matmul_8()).value(), two = runner_.load(matmul_8()).value(),
            sentinel = runner_.load(matmul_8()).value();
  const auto result = runner_.measure(
      {.handles = {one, two}, .sentinel = sentinel, .protocol = quick(), .best = {}});
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_THAT(result->handles, SizeIs(3));
  EXPECT_EQ(result->handles[0].handle, one);
  EXPECT_EQ(result->handles[2].handle, sentinel);
  EXPECT_THAT(result->handles[2].seconds, SizeIs(static_cast<std::size_t>(result->rounds)));
  for (const HandleSamples& each : result->handles) {
    ASSERT_EQ(each.seconds.size(), each.rounds.size());
    EXPECT_GE(each.seconds.size(), 3u);
    EXPECT_LE(each.seconds.size(), 6u);
    for (const double seconds : each.seconds) EXPECT_GT(seconds, 0);
    for (std::size_t i = 0; i < each.rounds.size(); ++i)
      EXPECT_EQ(each.rounds[i], static_cast<int>(i));
  }
}

TEST_F(RunnerTest, AClearlySlowerKernelStopsEarly) {
  ASSERT_TRUE(runner_.set_problem(problem_request(matmul(8, 8, 8))));
  const int handle = runner_.load(matmul_8()).value();
  Protocol protocol = quick();
  protocol.max_samples = 100;
  protocol.target_width = 1e-9;
  const auto result =
      runner_.measure({.handles = {handle}, .sentinel = {}, .protocol = protocol, .best = 1e-12});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->handles[0].stop, name_of(Stop::kClearlySlower));
  EXPECT_LE(result->handles[0].seconds.size(), 6u);
}

// A launch of far more than 0.05 s and five times the best: no batch of launches is waited for.
TEST_F(RunnerTest, AHopelessKernelIsLaunchedOnce) {
  ASSERT_TRUE(runner_.set_problem(problem_request(matmul(8, 8, 8))));
  const int handle =
      runner_.load(matmul_8("for (volatile long i = 0; i < 100000000; ++i) {}")).value();
  const auto result =
      runner_.measure({.handles = {handle}, .sentinel = {}, .protocol = quick(), .best = 1e-6});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->handles[0].stop, name_of(Stop::kClearlySlower));
  EXPECT_THAT(result->handles[0].seconds, SizeIs(1));
}

TEST_F(RunnerTest, StaleHandlesAndMissingProblemsAreErrors) {
  EXPECT_THAT(runner_.load(matmul_8()).error().message, HasSubstr("set_problem"));
  ASSERT_TRUE(runner_.set_problem(problem_request(matmul(8, 8, 8))));
  const int handle = runner_.load(matmul_8()).value();
  EXPECT_TRUE(runner_.unload(handle));
  EXPECT_THAT(runner_.verify(handle).error().message, HasSubstr("not loaded"));
  EXPECT_FALSE(runner_.unload(handle));
  EXPECT_FALSE(runner_.measure({.handles = {}, .sentinel = {}, .protocol = quick(), .best = {}}));
}

TEST_F(RunnerTest, JobsCarryTheSameAsMessages) {
  ProblemRequest request = problem_request(matmul(8, 8, 8));
  request.reference = matmul_8();
  const auto ready = handle(runner_, {"set_problem", request, {request.reference->code}});
  ASSERT_TRUE(ready) << ready.error().message;
  EXPECT_EQ(ready->body.at("reference"), "exact");
  const provider::Artifact artifact = matmul_8();
  const auto loaded = handle(runner_, {"load", {{"artifact", artifact}}, {artifact.code}});
  ASSERT_TRUE(loaded) << loaded.error().message;
  const auto verified = handle(runner_, {"verify", loaded->body, {}});
  ASSERT_TRUE(verified);
  EXPECT_TRUE(verified->body.get<Verification>().right);
  MeasureRequest measure;
  measure.handles = {loaded->body.at("handle").get<int>()};
  measure.protocol = quick();
  const auto measured = handle(runner_, {"measure", measure, {}});
  ASSERT_TRUE(measured) << measured.error().message;
  EXPECT_THAT(measured->body.get<MeasureResult>().handles, SizeIs(1));
  EXPECT_TRUE(handle(runner_, {"unload", loaded->body, {}}));
  EXPECT_THAT(handle(runner_, {"tango", {}, {}}).error().message, HasSubstr("no job 'tango'"));
  EXPECT_THAT(handle(runner_, {"verify", {{"hand", 1}}, {}}).error().message,
              HasSubstr("body of the job 'verify'"));
  EXPECT_FALSE(handle(runner_, {"load", {{"artifact", artifact}}, {}}));
}

TEST(VerificationTest, NanAndInfinitySurviveJson) {
  Verification verification;
  verification.got = std::nan("");
  verification.expected = -std::numeric_limits<double>::infinity();
  verification.absolute_tolerance = std::numeric_limits<double>::infinity();
  const auto back = nlohmann::json::parse(nlohmann::json(verification).dump()).get<Verification>();
  EXPECT_TRUE(std::isnan(back.got));
  EXPECT_EQ(back.expected, verification.expected);
  EXPECT_EQ(back.absolute_tolerance, verification.absolute_tolerance);
  EXPECT_EQ(back.relative_tolerance, std::nullopt);
}

// The exponentials of 16384 numbers add up to some 18,000; in bf16 a sum stops to grow long before.
TEST_F(RunnerTest, WhatARightKernelMissesByItselfCannotBeVerified) {
  using namespace problem;
  Dispatch dispatch;
  dispatch.name = "sum_of_exponentials";
  dispatch.root.kind = OperationKind::kReduction;
  dispatch.root.loops = {{false, 2}, {true, 16384}};
  const TensorType in{ElementType::kBF16, {2, 16384}}, out{ElementType::kBF16, {2}};
  dispatch.root.operands = {{in, {0, 1}, false}, {out, {0}, true}};
  dispatch.bindings = {{Access::kReadOnly, BindingUse::kRootInput, in, 65536},
                       {Access::kWriteOnly, BindingUse::kOutput, out, 4}};
  ElementValue input{.kind = ElementValue::Kind::kInput,
                     .operation = "",
                     .operands = {},
                     .type = ElementType::kBF16};
  input.binding = 0;
  ElementValue term{.kind = ElementValue::Kind::kOperation,
                    .operation = "math.exp",
                    .operands = {0},
                    .type = ElementType::kBF16};
  ElementValue start{.kind = ElementValue::Kind::kConstant,
                     .operation = "",
                     .operands = {},
                     .type = ElementType::kBF16};
  ElementValue sum{.kind = ElementValue::Kind::kReduction,
                   .operation = "arith.addf",
                   .operands = {1, 2},
                   .type = ElementType::kBF16};
  sum.terms = 16384;
  sum.root = true;
  dispatch.computation.values = {input, term, start, sum};
  dispatch.computation.outputs = {{1, 3}};
  const auto ready = runner_.set_problem(problem_request(dispatch));
  ASSERT_FALSE(ready);
  EXPECT_EQ(ready.error().kind, ErrorKind::kFailure);
  EXPECT_THAT(ready.error().message, HasSubstr("cannot be verified: a right kernel's binding 1"));
}

}  // namespace
}  // namespace hone::measure
