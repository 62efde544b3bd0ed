// Kernels of a round on a runner behind a slow line: loaded and verified with one call.
#include <gmock/gmock.h>

#include "tests/tune_fake/fake_runner.h"
#include "trial/kernel_runner.h"

namespace hone::trial {
namespace {

using testing::ElementsAre;

// The kernels "a tile=1", "b tile=2" and "c tile=4".
class FarRunner : public testing::Test {
 protected:
  FarRunner() {
    for (const char* code : {"a tile=1", "b tile=2", "c tile=4"}) {
      provider::Artifact artifact;
      artifact.code = code;
      kernels_.push_back({std::move(artifact)});
    }
    fake_->far = true;
  }

  RunnerService service() { return RunnerService(std::move(fake_)); }
  // What verify() says of each kernel, after one turn for all of them.
  std::vector<std::string> verified_ahead(RunnerService& service) {
    KernelRunner runner(service);
    EXPECT_TRUE(runner.verify_ahead({&kernels_[0], &kernels_[1], &kernels_[2]}));
    ahead_ = log_.jobs.size();
    std::vector<std::string> words;
    for (RunnerKernel& kernel : kernels_) {
      const auto verified = runner.verify(kernel);
      EXPECT_TRUE(verified) << verified.error().message;
      words.push_back(!verified            ? "error"
                      : !*verified         ? (*verified).error().message
                      : (*verified)->right ? "right"
                                           : "wrong");
    }
    return words;
  }

  test::FakeRunner::Log log_;
  std::unique_ptr<test::FakeRunner> fake_ = std::make_unique<test::FakeRunner>(log_);
  std::vector<RunnerKernel> kernels_;
  std::size_t ahead_ = 0;  // jobs of the one turn
};

TEST_F(FarRunner, ARoundIsVerifiedInOneTurn) {
  fake_->is_wrong = [](const std::string& code, std::int64_t) { return code == "b tile=2"; };
  RunnerService runner = service();
  EXPECT_THAT(verified_ahead(runner), ElementsAre("right", "wrong", "right"));
  EXPECT_THAT(log_.jobs, ElementsAre("load", "verify", "load", "verify", "load", "verify"));
}

TEST_F(FarRunner, KernelsBehindOneThatDoesNotLoadAreVerifiedByThemselves) {
  fake_->is_refused = [](const std::string& code) { return code == "b tile=2"; };
  RunnerService runner = service();
  EXPECT_THAT(verified_ahead(runner), ElementsAre("right", "no code", "right"));
  EXPECT_EQ(ahead_, 3u);
  EXPECT_EQ(log_.verified["c tile=4"], 1);
}

// The runner is lost at the second kernel's verification, and with it what was loaded.
TEST_F(FarRunner, AKilledRunnerCostsNoKernel) {
  fake_->killed_at = 4;
  RunnerService runner = service();
  EXPECT_THAT(verified_ahead(runner), ElementsAre("right", "right", "right"));
  EXPECT_EQ(log_.verified["b tile=2"], 1);
  EXPECT_EQ(log_.verified["c tile=4"], 1);
}

// Another kernel is loaded meanwhile: the handle that was guessed is its.
TEST_F(FarRunner, AKernelIsNotTakenForTheOneWhoseHandleWasGuessed) {
  fake_->is_wrong = [](const std::string& code, std::int64_t) { return code == "d tile=8"; };
  RunnerService runner = service();
  provider::Artifact other;
  other.code = "d tile=8";
  ASSERT_TRUE(runner.ask(measure::jobs::kLoad, other));
  EXPECT_THAT(verified_ahead(runner), ElementsAre("right", "right", "right"));
  // Each handle was one too low: the guess for "b" met "a", and that for "a" met the other.
  EXPECT_EQ(log_.verified["d tile=8"], 1);
  EXPECT_EQ(log_.verified["a tile=1"], 2);
  EXPECT_EQ(log_.verified["b tile=2"], 2);
  EXPECT_EQ(log_.verified["c tile=4"], 1);
}

}  // namespace
}  // namespace hone::trial
