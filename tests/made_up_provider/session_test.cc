// A provider that no folder of src/ knows tunes a dispatch: its space and its prior, its payload,
// its workers, and hone's session, runner, device and store.
#include <gmock/gmock.h>

#include "base/file.h"
#include "device/cpu/target.h"
#include "space/configuration.h"
#include "tests/made_up_provider/choice.h"
#include "tests/made_up_provider/provider.h"
#include "tests/tune/silent_observer.h"
#include "tune/dispatch/dispatch_list.h"
#include "worker/compile_pool.h"
#include "worker/runner_process.h"

namespace hone::plain_c {
namespace {

using testing::HasSubstr;

const Product kProduct{48, 48, 64};

class MadeUpProvider : public testing::Test {
 protected:
  void SetUp() override {
    options_.input = "products";
    options_.flags = {"-w"};
    options_.places.front().address.cores = {device::cpu::available_cores().front()};
    options_.strategy = "prior";
    options_.budget_seconds = 5;
    options_.baselines = options_.prove = false;
    options_.out = folder_.path();
    worker::CompilePoolOptions workers;
    workers.command = {self_, "compile"};
    auto pool = worker::CompilePool::start(workers);
    ASSERT_TRUE(pool) << pool.error().message;
    pool_ = std::move(*pool);
  }

  Result<tune::TunedList> run(const tune::DispatchList& list) {
    worker::RunnerOptions runs;
    runs.command = {self_, "run"};
    trial::CompileService compiler(*pool_);
    trial::RunnerService runner{worker::RunnerProcess(runs)};
    tune::Context context{options_, provider_, compiler, runner, store_, observer_};
    // However busy the machine is, the budget is so many looks at the clock.
    context.clock = [seconds = 0.0]() mutable { return seconds += 0.1; };
    store::BuildRow build;
    HONE_ASSIGN(build.compiler, compiler.ask(provider::jobs::kRevision));
    build.flags = "[]";
    build.target = "{}";
    HONE_ASSIGN(context.baseline.build, store_.intern(build));
    store::DeviceRow device;
    device.name = "this CPU";
    device.protocol = "{}";
    HONE_ASSIGN(context.device, store_.intern(device));
    return tune::tune_list(context, store::Run{}, list,
                           [](const tune::TunedList&) -> Status { return {}; });
  }

  TemporaryFolder folder_ = std::move(TemporaryFolder::create("hone-made-up-").value());
  std::string self_ = std::filesystem::read_symlink("/proc/self/exe").string();
  store::Store store_ =
      std::move(store::Store::open(folder_.path() / "a.db", store::Mode::kReadWrite).value());
  std::unique_ptr<worker::CompilePool> pool_;
  Provider provider_;
  tune::Options options_;
  tune::SilentObserver observer_;
};

// By dots: one column, two levels. By rows: 8 or 16 columns (32 do not divide 48), two levels each.
TEST_F(MadeUpProvider, TunesADispatchToItsEnd) {
  const tune::DispatchList list{"products", "products", {dispatch_of(kProduct)}};
  EXPECT_EQ(provider_.space_of(list.dispatches[0])->count().value, 6u);
  const auto tuned = run(list);
  ASSERT_TRUE(tuned) << tuned.error().message;
  ASSERT_EQ(tuned->tuned.size(), 1u) << observer_.notes;

  const std::vector<store::CandidateView> rows = store_.candidate_rows().value();
  EXPECT_EQ(rows.size(), 7u);  // the default too
  for (const store::CandidateView& row : rows) {
    EXPECT_EQ(row.provider, "plain_c");
    EXPECT_EQ(row.state, store::CandidateState::kMeasured) << row.failure_message;
    EXPECT_TRUE(row.right.value_or(false)) << row.tolerance;
    EXPECT_THAT(row.tolerance, HasSubstr("exact"));
    EXPECT_THAT(row.configured, HasSubstr("loops"));
  }
  // Compiled without any optimisation the default does not win.
  const tune::TunedDispatch& winner = tuned->tuned.front();
  ASSERT_TRUE(winner.payload) << winner.selection.reason;
  const auto choice = choice_in(*winner.payload);
  ASSERT_TRUE(choice) << choice.error().message;
  EXPECT_GT(choice->level, 0);
}

TEST_F(MadeUpProvider, ItsCompilersWordsAreTheFailure) {
  trial::CompileService compiler(*pool_);
  ASSERT_TRUE(compiler.prepare({"product", dispatch_of(kProduct).source, {"-no-such-flag"}}));
  const auto refused = compiler.compile("product", payload_of({}));
  ASSERT_TRUE(refused) << refused.error().message;
  ASSERT_FALSE(refused->artifact);
  EXPECT_EQ(refused->artifact.error().kind, provider::FailureKind::kCompileError);
  EXPECT_THAT(refused->artifact.error().message, HasSubstr("no-such-flag"));
}

}  // namespace
}  // namespace hone::plain_c
