// A whole session whose kernels are loaded, verified, measured and compared by hone's own runner,
// on a device that does what the fake compiler's code says.
#include "tests/tune_fake/own_runner.h"

#include <gmock/gmock.h>

#include "tests/tune_fake/fake_device.h"
#include "tests/tune_fake/fake_session.h"

namespace hone::tune {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

class OwnRunnerSession : public FakeSession {
 protected:
  Result<TuningResult> run(int dispatches) {
    test::FakePool pool(dispatches);
    const device::DeviceKind fake{
        .name = "fake",
        .open = [this](const device::Address&) -> Result<std::unique_ptr<device::Device>> {
          ++devices_;
          return std::make_unique<test::FakeDevice>(faults_);
        }};
    options_.places.front().address.kind = fake.name;
    FakeTools tools{pool, std::make_unique<test::OwnRunner>(std::vector{fake}), observer_};
    test::FakePool others(0);
    if (other_) {
      tools.replacing = &*other_;
      tools.replacing_pool = &others;
    }
    return run_session(options_, store_, provider_, std::move(tools));
  }

  store::Store store_ = open_store();
  SilentObserver observer_;
  test::FakeDevice::Faults faults_;
  std::optional<test::FakeReplacing> other_;  // whose kernels may take the compiler's place
  int devices_ = 0;  // opened
};

TEST_F(OwnRunnerSession, FindsAndProvesTheFastest) {
  const auto result = run(2);
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_EQ(result->at_sizes.front().tuned.size(), 2u) << observer_.notes;
  for (const TunedDispatch& tuned : result->at_sizes.front().tuned) {
    ASSERT_TRUE(tuned.payload) << tuned.selection.reason;
    EXPECT_EQ(tuned.payload->json, "tile=8");
    // Tile 1, the compiler's own choice, takes 1.3 times as long as tile 8.
    EXPECT_NEAR(*tuned.selection.speedup, 1.3, 0.01);
  }
  EXPECT_EQ(result->best ? result->best->label : "", "spec") << observer_.notes;
  const std::vector<store::CandidateView> rows = store_.candidate_rows().value();
  for (const store::CandidateView& row : rows) EXPECT_EQ(row.right, true) << row.configuration;
}

// Of another's two kernels one reads an operand in another order, which is said; the other one
// wins, and how exact it is is told beside the compiler's own: both add up alike.
TEST_F(OwnRunnerSession, SaysWhatAWrongKernelDidAndHowExactARightOneIs) {
  options_.places.front().traits.assembles_code = true;
  other_.emplace();
  other_->tiles = {8, 128};
  other_->suspected = {{"it reads A backwards", test::fake_statement(8)},
                       {"it reads B as N x K", test::fake_statement(8, true)}};
  other_->suspected[0].statement.operands[0].strides[2] = 0;
  provider_.without_space = {"main_dispatch_0"};
  faults_ = {{128, test::FakeFault::kTransposed}};
  const auto result = run(1);
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_EQ(result->at_sizes.front().tuned.size(), 1u) << observer_.notes;
  const TunedDispatch& tuned = result->at_sizes.front().tuned.front();
  ASSERT_TRUE(tuned.payload) << tuned.selection.reason;
  EXPECT_EQ(tuned.payload->json, "tile=8");
  ASSERT_TRUE(tuned.accuracy) << observer_.notes;
  ASSERT_EQ(tuned.accuracy->kernel.size(), 1u);
  const measure::ArrayDifference& difference = tuned.accuracy->kernel[0].difference;
  EXPECT_EQ(difference.elements, 64);
  EXPECT_LT(difference.largest, 1e-4);
  EXPECT_EQ(tuned.accuracy->compilers.at(0).difference.by_ulp, difference.by_ulp);

  std::vector<std::string> said;
  const std::vector<store::CandidateView> rows = store_.candidate_rows().value();
  for (const store::CandidateView& row : rows)
    if (row.right == false)
      said.push_back(store_.details(row.candidate)->verifications.at(0).basis);
  EXPECT_THAT(said, ElementsAre(HasSubstr("; it reads B as N x K")));
}

// The fastest is wrong, the next two fail, the one after them is measured to be faster than the
// device can be. What is left is right, and wins.
TEST_F(OwnRunnerSession, WhatAKernelDoesIsARowAndTheBestThatIsRightWins) {
  faults_ = {{8, test::FakeFault::kWrong},
             {16, test::FakeFault::kFaults},
             {4, test::FakeFault::kLost},
             {32, test::FakeFault::kTooFast}};
  const auto result = run(1);
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_EQ(result->at_sizes.front().tuned.size(), 1u) << observer_.notes;
  const TunedDispatch& tuned = result->at_sizes.front().tuned.front();
  ASSERT_TRUE(tuned.payload) << tuned.selection.reason;
  EXPECT_EQ(tuned.payload->json, "tile=2");
  EXPECT_NEAR(*tuned.selection.speedup, 1.3 / 1.2, 0.01);

  std::map<std::string, std::string> failures, wrong;  // words, by configuration
  const std::vector<store::CandidateView> rows = store_.candidate_rows().value();
  for (const store::CandidateView& row : rows) {
    if (!row.failure_kind.empty())
      failures[row.configuration] = row.failure_kind + ": " + row.failure_message;
    if (row.right == false) wrong[row.configuration] = std::to_string(row.bad_index.value_or(-1));
  }
  EXPECT_THAT(wrong, ElementsAre(Pair(R"({"tile":8})", "1")));
  EXPECT_THAT(failures,
              UnorderedElementsAre(
                  Pair(R"({"tile":16})", HasSubstr("the kernel reports an error of its own")),
                  Pair(R"({"tile":4})", HasSubstr("kernel crash: an illegal memory access")),
                  Pair(R"({"tile":32})", HasSubstr("above the device's arithmetic peak"))));
  // One to calibrate, one for the problem, and one in place of that which was lost.
  EXPECT_EQ(devices_, 3);
  EXPECT_THAT(result->wrong_by_default, IsEmpty());
}

TEST_F(OwnRunnerSession, RepairsTheDispatchesThatAreWrongByDefault) {
  faults_ = {{1, test::FakeFault::kWrong}};
  const auto result = run(2);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_THAT(result->wrong_by_default, ElementsAre("main_dispatch_0", "main_dispatch_1"));
  ASSERT_TRUE(result->best) << observer_.notes;
  EXPECT_THAT(result->best->repairs, UnorderedElementsAre("main_dispatch_0", "main_dispatch_1"));
  for (const TunedDispatch& tuned : result->at_sizes.front().tuned) {
    EXPECT_TRUE(tuned.repairs());
    EXPECT_EQ(tuned.payload->json, "tile=8");
    EXPECT_NEAR(*tuned.selection.speedup, 1.3, 0.01);
  }
}

}  // namespace
}  // namespace hone::tune
