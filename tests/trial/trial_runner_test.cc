#include "trial/trial_runner.h"

#include <gmock/gmock.h>

#include "tests/tune_fake/fake_compiler.h"
#include "tests/tune_fake/fake_runner.h"
#include "trial/records.h"

namespace hone::trial {
namespace {

using testing::HasSubstr;

// The default of fake_program.h's first dispatch, and candidates of other tiles.
class TrialRunnerTest : public testing::Test {
 protected:
  TrialRunnerTest() {
    store::BuildRow build;
    build.compiler = "fake";
    build.flags = "[]";
    build.target = "{}";
    build_ = store_.intern(build).value();
    store::DeviceRow device;
    device.name = "fake";
    device.protocol = "{}";
    device_ = store_.intern(device).value();
    const store::Id operation = store_.intern(operation_row(dispatch_.root)).value();
    id_ = store_.intern(dispatch_row(dispatch_, operation)).value();
  }

  store::Store open() {
    return *store::Store::open(folder_.path() / "hone.db", store::Mode::kReadWrite);
  }

  TrialRunner runner(LeaseKeeper* leases = nullptr, Steps steps = {}) {
    return {{.compiler = compiler_, .store = store_, .leases = leases, .device = device_},
            id_,
            dispatch_.bindings,
            {"key", dispatch_.source, {}},
            steps};
  }

  Trial trial(std::int64_t tile) {
    store::CandidateRow row;
    row.dispatch = id_;
    row.build = build_;
    row.provider = "fake";
    row.configuration = nlohmann::json{{"tile", tile}}.dump();
    Trial trial;
    trial.candidate = store_.add_candidate(row).value();
    trial.payload = test::payload_with(tile);
    return trial;
  }

  TemporaryFolder folder_ = *TemporaryFolder::create("hone-trials-");
  store::Store store_ = open();
  test::FakePool pool_{1};
  CompileService compiler_{pool_};
  test::FakeRunner::Log log_;
  problem::Dispatch dispatch_ = test::fake_dispatch(0, {});
  store::Id id_ = 0, build_ = 0, device_ = 0;
};

TEST_F(TrialRunnerTest, WhatWasCompiledIsKnownToTheNext) {
  TrialRunner first = runner();
  Trial trial = this->trial(4);
  ASSERT_TRUE(first.begin({&trial}));
  EXPECT_EQ(trial.state, TrialState::kCompiling);
  ASSERT_TRUE(first.finish_compiling({&trial}, -1));
  EXPECT_EQ(trial.state, TrialState::kCompiled);
  EXPECT_EQ(first.artifact(trial.candidate)->code.empty(), false);

  TrialRunner second = runner();
  Trial same = this->trial(4);
  ASSERT_TRUE(second.begin({&same}));
  EXPECT_EQ(same.state, TrialState::kCompiled);
  EXPECT_EQ(same.identity, trial.identity);
  EXPECT_EQ(pool_.compiled, 1);
  EXPECT_EQ(pool_.prepared, 1) << "no server is made where nothing is to be compiled";
}

TEST_F(TrialRunnerTest, ACandidateThatIsProposedTwiceIsCompiledOnce) {
  TrialRunner runner = this->runner();
  Trial first = trial(4), second = trial(4);
  ASSERT_TRUE(runner.begin({&first, &second}));
  ASSERT_TRUE(runner.finish_compiling({&first, &second}, -1));
  EXPECT_EQ(first.state, TrialState::kCompiled);
  EXPECT_EQ(second.state, TrialState::kCompiled);
  EXPECT_EQ(second.identity, first.identity);
  EXPECT_EQ(pool_.compiled, 1);
}

TEST_F(TrialRunnerTest, WhatAnotherTunerHasLeasedWaits) {
  store::Store theirs = open();
  auto other = *LeaseKeeper::start(theirs, -1);
  auto mine = *LeaseKeeper::start(store_, -1);
  Trial trial = this->trial(4);
  ASSERT_TRUE(*other.take(compile_key(trial.candidate)));
  TrialRunner runner = this->runner(&mine);
  ASSERT_TRUE(runner.begin({&trial}));
  EXPECT_EQ(trial.state, TrialState::kLeasedByOther);
  EXPECT_EQ(pool_.compiled, 0);
  ASSERT_TRUE(other.give_back(compile_key(trial.candidate)));
  ASSERT_TRUE(runner.begin({&trial}));
  EXPECT_EQ(trial.state, TrialState::kCompiling);
}

TEST_F(TrialRunnerTest, AFailureIsARowThatHoldsUnlessItIsIgnored) {
  pool_.failures[1] = {provider::FailureKind::kCompileError, "no registers left"};
  TrialRunner runner = this->runner();
  Trial trial = this->trial(4);
  ASSERT_TRUE(runner.begin({&trial}));
  ASSERT_TRUE(runner.finish_compiling({&trial}, -1));
  ASSERT_EQ(trial.state, TrialState::kFailed);
  EXPECT_EQ(trial.failure->message, "no registers left");
  Trial again = this->trial(4);
  ASSERT_TRUE(runner.recall(again));
  EXPECT_EQ(again.state, TrialState::kFailed);
  again.ignore_stored_failure = true;
  ASSERT_TRUE(runner.recall(again));
  EXPECT_EQ(again.state, TrialState::kProposed);
  EXPECT_FALSE(again.failure);
}

TEST_F(TrialRunnerTest, CodeThatIsNotWhatWasMeantFailsBeforeItsRow) {
  TrialRunner runner = this->runner();
  runner.check_code([](const provider::Artifact&) {
    return provider::Failure{provider::FailureKind::kLoadError, "for another GPU"};
  });
  Trial trial = this->trial(4);
  ASSERT_TRUE(runner.begin({&trial}));
  ASSERT_TRUE(runner.finish_compiling({&trial}, -1));
  EXPECT_EQ(trial.state, TrialState::kFailed);
  EXPECT_EQ(trial.failure->message, "for another GPU");
  EXPECT_FALSE(store_.known(trial.candidate, device_)->artifact);
}

TEST_F(TrialRunnerTest, AWrongKernelFailsWithWhatItMayHaveDone) {
  auto fake = std::make_unique<test::FakeRunner>(log_);
  fake->is_wrong = [](const std::string&, std::int64_t) { return true; };
  RunnerService service(std::move(fake));
  KernelRunner kernels(service);
  ASSERT_TRUE(service.set_problem({dispatch_, {}, 1, measure::CacheMode::kWarm, 0, {}}));
  TrialRunner runner = this->runner();
  runner.verify_by("exact");
  Trial trial = this->trial(4);
  ASSERT_TRUE(runner.begin({&trial}));
  ASSERT_TRUE(runner.finish_compiling({&trial}, -1));
  RunnerKernel kernel{*runner.artifact(trial.candidate)};
  ASSERT_TRUE(runner.verify(kernels, trial, kernel));
  ASSERT_EQ(trial.state, TrialState::kFailed);
  EXPECT_EQ(trial.failure->kind, provider::FailureKind::kWrong);
  EXPECT_THAT(trial.failure->message, HasSubstr("another number"));
  Trial again = this->trial(4);
  ASSERT_TRUE(runner.recall(again));
  EXPECT_EQ(again.state, TrialState::kFailed) << "the store has the verification";
}

// A profile measures without a default, a search beside one.
TEST_F(TrialRunnerTest, ATimeWithoutARatioIsKnownToAProfileOnly) {
  TrialRunner runner = this->runner();
  runner.verify_by("name");
  Trial trial = this->trial(4);
  ASSERT_TRUE(runner.begin({&trial}));
  ASSERT_TRUE(runner.finish_compiling({&trial}, -1));
  measure::Verification right;
  right.right = true;
  ASSERT_TRUE(runner.record_verification(trial.identity, right));
  measure::HandleSamples samples;
  samples.seconds = {1e-3, 2e-3, 3e-3};
  ASSERT_TRUE(runner.record_samples(trial.identity, samples, store::Phase::kSearch, {}, {}));

  ASSERT_TRUE(runner.recall(trial));
  EXPECT_EQ(trial.state, TrialState::kVerified);
  TrialRunner profile = this->runner(nullptr, {.beside_default = false});
  profile.verify_by("name", /*only=*/true);
  ASSERT_TRUE(profile.recall(trial));
  ASSERT_EQ(trial.state, TrialState::kMeasured);
  EXPECT_DOUBLE_EQ(trial.timing->median, 2e-3);
  profile.verify_by("another", /*only=*/true);
  ASSERT_TRUE(profile.recall(trial));
  EXPECT_EQ(trial.state, TrialState::kCompiled);
}

}  // namespace
}  // namespace hone::trial
