#include <gmock/gmock.h>

#include "tests/tune_fake/fake_runner.h"
#include "trial/kernel_runner.h"

namespace hone::trial {
namespace {

using testing::ElementsAre;

// The kernels "a tile=1", "b tile=2" and "c tile=4" of one problem.
class Rounds : public testing::Test {
 protected:
  Rounds() {
    for (const char* code : {"a tile=1", "b tile=2", "c tile=4"}) {
      provider::Artifact artifact;
      artifact.code = code;
      kernels_.push_back({std::move(artifact)});
    }
  }

  Result<std::optional<FailedColumn>> run(RoundsRequest request) {
    for (RunnerKernel& kernel : kernels_) request.kernels.push_back(&kernel);
    if (!request.take)
      request.take = [](const Columns&, const measure::MeasureResult&) { return true; };
    auto fake = std::make_unique<test::FakeRunner>(log_);
    fake->crashes = crashes_;
    RunnerService service(std::move(fake));
    KernelRunner runner(service);
    return run_rounds(runner, std::move(request));
  }

  std::ptrdiff_t asked(const std::string& kind) const {
    return std::ranges::count(log_.jobs, kind);
  }

  std::vector<RunnerKernel> kernels_;
  test::FakeRunner::Log log_;
  std::function<bool(const measure::MeasureRequest&, const std::vector<std::string>&)> crashes_ =
      [](const auto&, const auto&) { return false; };
};

TEST_F(Rounds, EachHasTheNextSeedAndTheColumnsThatAreAskedFor) {
  std::vector<Columns> wanted{{2, 0}, {1}};
  std::vector<std::uint64_t> seeds;
  crashes_ = [&](const measure::MeasureRequest& request, const auto&) {
    seeds.push_back(request.seed);
    return false;
  };
  std::vector<Columns> taken;
  RoundsRequest request;
  request.how.seed = 7;
  request.next = [&]() -> Result<Columns> {
    return taken.size() < wanted.size() ? wanted[taken.size()] : Columns();
  };
  request.take = [&](const Columns& columns, const measure::MeasureResult& measured) {
    EXPECT_EQ(measured.handles.size(), columns.size());
    taken.push_back(columns);
    return true;
  };
  const auto failed = run(std::move(request));
  ASSERT_TRUE(failed) << failed.error().message;
  EXPECT_FALSE(*failed);
  EXPECT_EQ(taken, wanted);
  EXPECT_THAT(seeds, ElementsAre(7, 8));
}

TEST_F(Rounds, LoadTheirKernelsOnceOrEachTimeElsewhere) {
  RoundsRequest request;
  request.next = fixed_rounds(4, 3);
  ASSERT_TRUE(run(std::move(request)));
  EXPECT_EQ(asked("load"), 3);
  EXPECT_EQ(asked("unload"), 0);
  log_ = {};
  RoundsRequest anew;
  anew.next = fixed_rounds(4, 3);
  anew.reload = true;
  for (RunnerKernel& kernel : kernels_) kernel.handle.reset();
  ASSERT_TRUE(run(std::move(anew)));
  EXPECT_EQ(asked("load"), 4 * 3);
  EXPECT_EQ(asked("unload"), 4 * 3);
}

TEST_F(Rounds, EndWhereTakingSaysSo) {
  int taken = 0;
  RoundsRequest request;
  request.next = fixed_rounds(10, 3);
  request.take = [&](const Columns&, const measure::MeasureResult&) { return ++taken < 3; };
  ASSERT_TRUE(run(std::move(request)));
  EXPECT_EQ(taken, 3);
}

TEST_F(Rounds, NameTheKernelThatFailsAlone) {
  crashes_ = [](const auto&, const std::vector<std::string>& codes) {
    return std::ranges::count(codes, "b tile=2") > 0;
  };
  RoundsRequest request;
  request.next = fixed_rounds(2, 3);
  const auto failed = run(std::move(request));
  ASSERT_TRUE(failed) << failed.error().message;
  ASSERT_TRUE(*failed);
  EXPECT_EQ((*failed)->column, 1u);
  EXPECT_EQ((*failed)->failure.kind, provider::FailureKind::kKernelCrash);
}

TEST_F(Rounds, NameNoKernelWhereEachRunsAlone) {
  crashes_ = [](const auto&, const std::vector<std::string>& codes) { return codes.size() > 1; };
  RoundsRequest request;
  request.next = fixed_rounds(2, 3);
  const auto failed = run(std::move(request));
  ASSERT_TRUE(failed) << failed.error().message;
  ASSERT_TRUE(*failed);
  EXPECT_FALSE((*failed)->column);
  EXPECT_EQ((*failed)->failure.message, "SIGSEGV");
}

}  // namespace
}  // namespace hone::trial
