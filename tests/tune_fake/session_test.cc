// The tuner alone, on fakes at its seams: what a session does, without a compiler, a device or a
// second process.
#include <gmock/gmock.h>

#include "tests/tune_fake/one_tuner.h"

namespace hone::tune {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;

TEST_F(OneTuner, FindsTheFastestOfEachDispatchAndProvesIt) {
  test::FakePool pool(3);
  const auto result = run(pool);
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_EQ(result->tuned.size(), 3u) << observer_.notes;
  for (const TunedDispatch& tuned : result->tuned) {
    ASSERT_TRUE(tuned.selection.winner) << tuned.selection.reason;
    EXPECT_EQ(tuned.payload->json, "tile=8");
    EXPECT_NEAR(*tuned.selection.speedup, 1.3, 0.01);
  }
  EXPECT_EQ(best_, "spec") << observer_.notes;
  const auto spec = test::spec_in({provider_.flag_of(options_.out / "tuning_spec.mlir")});
  EXPECT_THAT(spec,
              ElementsAre(Pair("main_dispatch_0", "tile=8"), Pair("main_dispatch_1", "tile=8"),
                          Pair("main_dispatch_2", "tile=8")));
}

// On cores a dispatch begins when its turn comes. On a GPU the next one compiles meanwhile.
class OnCoresAndGpus : public OneTuner, public testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    OneTuner::SetUp();
    for (device::Place& place : options_.places) place.traits.compiling_disturbs = is_cpu();
  }
  static bool is_cpu() { return GetParam(); }
};

INSTANTIATE_TEST_SUITE_P(, OnCoresAndGpus, testing::Bool(),
                         [](const auto& param) { return param.param ? "cpu" : "gpu"; });

// What the compiler takes in a program it may refuse by itself: the other dispatches are tuned.
TEST_P(OnCoresAndGpus, ADispatchThatIsRefusedCostsTheOthersNothing) {
  test::FakePool pool(3);
  pool.refuses_source = "main_dispatch_1";
  const auto result = run(pool);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->tuned.size(), 2u);
  ASSERT_EQ(result->not_tuned.size(), 1u);
  EXPECT_EQ(result->not_tuned.front().dispatch, "main_dispatch_1");
  EXPECT_THAT(result->not_tuned.front().reason, HasSubstr("refused"));
}

// The first kernel compiles for longer than the search may take: on a GPU it is waited for.
TEST_F(OneTuner, WaitsForTheFirstKernelWhereCompilingDoesNotDisturb) {
  options_.places.front().traits.compiling_disturbs = false;
  options_.budget_seconds = 0.5;
  options_.compile_ahead = 2;
  test::FakePool pool(1);
  pool.compiles_for = std::chrono::seconds(3);
  const auto result = run(pool);
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_EQ(result->tuned.size(), 1u) << observer_.notes;
  EXPECT_TRUE(result->tuned.front().payload) << observer_.notes;
  EXPECT_EQ(pool.compiled, 1 + 2) << "the default and the first round";
}

// One kernel after the other ends, the last after the half second of the search: all are measured.
TEST_F(OneTuner, WaitsForTheFirstRoundWhereCompilingDoesNotDisturb) {
  options_.places.front().traits.compiling_disturbs = false;
  options_.budget_seconds = 0.5;
  test::FakePool pool(1);
  pool.compiles_for = std::chrono::milliseconds(100);
  pool.one_by_one = true;
  ASSERT_TRUE(run(pool));
  const auto rows = store_.candidate_rows();
  ASSERT_TRUE(rows);
  const auto measured =
      std::ranges::count(*rows, store::CandidateState::kMeasured, &store::CandidateView::state);
  EXPECT_EQ(measured, pool.compiled) << observer_.notes;
}

// Beside others a kernel may do what it did not do alone. It has a row, and the next best wins.
TEST_F(OneTuner, AFinalistThatCrashesLeavesTheRace) {
  test::FakePool pool(1);
  crashes_among_finalists_ = "tile=8";
  const auto result = run(pool);
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_EQ(result->tuned.size(), 1u) << observer_.notes;
  ASSERT_TRUE(result->tuned.front().payload) << result->tuned.front().selection.reason;
  EXPECT_NE(result->tuned.front().payload->json, "tile=8");
  EXPECT_THAT(observer_.notes, HasSubstr("is out: kernel crash: SIGSEGV"));
  const auto rows = store_.candidate_rows();
  ASSERT_TRUE(rows);
  EXPECT_EQ(std::ranges::count(*rows, "kernel crash", &store::CandidateView::failure_kind), 1);
}

// Each tile of a dispatch is compiled, verified and measured once; finalists run again.
TEST_F(OneTuner, ASecondRunDoesNothingAgain) {
  test::FakePool pool(2);
  ASSERT_TRUE(run(pool));
  const int compiled = pool.compiled;
  log_ = {};
  test::FakePool another(2);
  const auto again = run(another);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->tuned.size(), 2u);
  for (const auto& [code, times] : log_.verified) ADD_FAILURE() << code << " verified again";
  EXPECT_LT(another.compiled, compiled);
}

// What one default takes to compile, several take side by side.
TEST_F(OneTuner, DefaultsThatAreWeighedCompileSideBySide) {
  options_.compile_ahead = 4;
  test::FakePool pool(6);
  ASSERT_TRUE(run(pool));
  EXPECT_EQ(pool.dispatches_at_once, 4u);
}

TEST_P(OnCoresAndGpus, TheNextDefaultsCompileWhileOthersAreWeighedOnAGpu) {
  options_.compile_ahead = 4;
  test::FakePool pool(6);
  int compiled = 0;
  before_job_ = [&](const std::string& kind) {
    if (kind == "measure" && compiled == 0) compiled = pool.compiled;
  };
  ASSERT_TRUE(run(pool));
  EXPECT_EQ(compiled, is_cpu() ? 4 : 6);
}

// A server is a process, and a program has hundreds of dispatches.
TEST_F(OneTuner, NoServerIsPreparedForWhatIsKnown) {
  test::FakePool pool(2);
  ASSERT_TRUE(run(pool));
  EXPECT_GT(pool.prepared, 0);
  command_ = "another";  // whose dispatches are weighed and searched anew
  test::FakePool another(2);
  const auto again = run(another);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->tuned.size(), 2u);
  EXPECT_EQ(another.compiled, 0);
  EXPECT_EQ(another.prepared, 0);
}

// Whatever it was at when it was stopped: what is in the store is not done again.
TEST_P(OnCoresAndGpus, GoesOnWhereItWasStopped) {
  test::FakePool whole(2);
  ASSERT_TRUE(run(whole));
  for (int stop = 1; stop < whole.compiled; ++stop) {
    start_anew();
    test::FakePool first(2), second(2);
    first.stopped_after = stop;
    const auto stopped = run(first);
    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.error().kind, ErrorKind::kInterrupted) << stopped.error().message;
    const auto result = run(second);
    ASSERT_TRUE(result) << result.error().message;
    for (const TunedDispatch& tuned : result->tuned)
      EXPECT_EQ(tuned.payload->json, "tile=8") << "stopped after " << stop;
    for (const auto& [code, times] : log_.verified)
      EXPECT_EQ(times, 1) << code << ", stopped after " << stop;
  }
}

// To have proved what there is.
TEST_F(OneTuner, GoesOnWithASmallerBudget) {
  test::FakePool whole(3), first(3), second(3);
  ASSERT_TRUE(run(whole));
  start_anew();
  command_ = "hone tune program.mlir --budget 10m --plain";
  first.stopped_after = whole.compiled - 2;  // within the third dispatch
  ASSERT_FALSE(run(first));
  command_ = "hone tune program.mlir --budget 1s --plain";
  options_.budget_seconds = 1e-6;
  const auto result = run(second);
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_EQ(result->tuned.size(), 2u) << observer_.notes;
  for (const TunedDispatch& tuned : result->tuned) EXPECT_EQ(tuned.payload->json, "tile=8");
  EXPECT_EQ(best_, "spec") << observer_.notes;
}

// However short its time is. What the first one's proof left out takes part in the second's.
TEST_F(OneTuner, ALaterRunProvesWhatAnEarlierOneFound) {
  test::FakePool first(3), second(3);
  first.harm = {{"main_dispatch_1", 3 * test::fake_seconds(test::kDefaultTile)}};
  command_ = "hone tune program.mlir --budget 10m --plain";
  const auto before = run(first);
  ASSERT_TRUE(before) << before.error().message;
  EXPECT_EQ(before->proven.shipped.size(), 2u) << observer_.notes;
  command_ = "hone tune program.mlir --budget 1s --plain";
  options_.budget_seconds = 1e-6;
  const auto result = run(second);
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_EQ(result->tuned.size(), 3u) << observer_.notes;
  for (const TunedDispatch& tuned : result->tuned) EXPECT_EQ(tuned.payload->json, "tile=8");
  EXPECT_EQ(result->proven.shipped.size(), 3u);
  for (const TunedDispatch& tuned : result->tuned)
    EXPECT_THAT(tuned.selection.reason, testing::Not(HasSubstr("left out")))
        << tuned.dispatch->name;
  EXPECT_THAT(observer_.notes, HasSubstr("2 keep what an earlier run found"));
}

// Each of these runs has time for one dispatch.
TEST_F(OneTuner, SearchesWhatNoRunHasSearchedBeforeWhatIsFound) {
  options_.budget_seconds = 1e-6;
  for (std::size_t n = 1; n <= 3; ++n) {
    test::FakePool pool(3);
    command_ = fmt::format("hone tune program.mlir --budget {}s", n);
    const auto result = run(pool);
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(result->tuned.size(), n) << observer_.notes;
    EXPECT_EQ(result->not_tuned.size(), 3 - n);
  }
}

// A runner that is killed from outside, whatever job it was at, costs neither a candidate nor the
// winner; on a GPU neither in the form that ships.
class KilledRunner : public OneTuner, public testing::WithParamInterface<bool> {};
INSTANTIATE_TEST_SUITE_P(Devices, KilledRunner, testing::Bool(),
                         [](const auto& on_gpu) { return on_gpu.param ? "Gpu" : "Cpu"; });

TEST_P(KilledRunner, CostsNothing) {
  options_.baselines = true;
  options_.prove = false;   // which takes no job of the runner
  options_.candidates = 3;  // jobs of every kind; more would be more of the same
  if (GetParam()) options_.places = {test::gpu_place()};
  test::FakePool whole(1);
  ASSERT_TRUE(run(whole));
  const std::vector<std::string> jobs = log_.jobs;
  for (std::size_t job = 1; job <= jobs.size(); ++job) {
    start_anew();
    killed_at_ = job;
    test::FakePool pool(1);
    const auto result = run(pool);
    const std::string when = fmt::format("killed in job {}, {}", job, jobs[job - 1]);
    if (!result) {
      ADD_FAILURE() << when << ": " << result.error().message;
      continue;
    }
    ASSERT_EQ(result->tuned.size(), 1u) << when << ": " << observer_.notes;
    EXPECT_TRUE(result->tuned[0].selection.winner)
        << when << ": " << result->tuned[0].selection.reason;
    const std::vector<store::CandidateView> rows = store_.candidate_rows().value();
    for (const store::CandidateView& row : rows) EXPECT_EQ(row.failure_kind, "") << when;
  }
}

// Libraries are for the report: what they take must not be the proof's.
TEST_F(OneTuner, AsksNoLibraryWhereItsTimeIsTheProofs) {
  options_.baselines = true;
  options_.candidates = 3;
  test::FakePool in_time(1);
  ASSERT_TRUE(run(in_time));
  EXPECT_EQ(std::ranges::count(log_.jobs, "baselines"), 1);
  start_anew();
  options_.baselines = true;
  options_.budget_seconds = -36;  // 1.25 x 36 s of the 45 s beyond the budget are over
  test::FakePool too_late(1);
  const auto result = run(too_late);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(std::ranges::count(log_.jobs, "baselines"), 0);
}

TEST_F(OneTuner, AFailingCandidateIsARowAndNotTheEnd) {
  test::FakePool pool(1);
  pool.failures[3] = {provider::FailureKind::kCompileError, "no such tile"};
  const auto result = run(pool);
  ASSERT_TRUE(result) << result.error().message;
  const auto rows = store_.candidate_rows().value();
  const auto failed =
      std::ranges::find(rows, store::CandidateState::kFailed, &store::CandidateView::state);
  ASSERT_NE(failed, rows.end());
  EXPECT_EQ(failed->failure_kind, "compile error");
  EXPECT_THAT(failed->failure_message, HasSubstr("no such tile"));
}

TEST_F(OneTuner, SaysWhyMostCandidatesFailed) {
  test::FakePool pool(1);
  pool.failures[2] = {provider::FailureKind::kCompileError, "stack 49152 B, limit 32768 B\nwords"};
  pool.failures[3] = {provider::FailureKind::kCompileError, "stack 65536 B, limit 32768 B\nwords"};
  pool.failures[4] = {provider::FailureKind::kCompileError, "no such tile"};
  const auto result = run(pool);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_THAT(observer_.notes, HasSubstr("2 of 3 failed candidates: stack 49152 B, limit 32768 B"));
}

// Time is what the runner's jobs take, a second each: of 300 s each of three equal dispatches gets
// 100. Finalists end their round, and calibrating and making ready come on top.
TEST_F(OneTuner, SpendsItsBudgetOnAllDispatchesAlike) {
  options_.budget_seconds = 300;
  options_.prove = false;
  double seconds = 0;
  auto runner = std::make_unique<test::FakeRunner>(log_);
  runner->before_job = [&](const std::string&) { ++seconds; };
  test::FakePool pool(3);
  const auto result =
      run_session(options_, store_, provider_,
                  {pool, std::move(runner), observer_, trial::kLeaseTime, [&] { return seconds; }});
  ASSERT_TRUE(result) << result.error().message;
  const std::vector<TunedDispatch>& tuned = result->at_sizes.front().tuned;
  ASSERT_EQ(tuned.size(), 3u);
  for (const TunedDispatch& each : tuned) EXPECT_NEAR(each.seconds, 100, 10);
}

// One entry of a spec is for all of them: the winner of the one that there was time to search is
// verified and measured in the others, and ships.
TEST_F(OneTuner, AWinnerIsTriedWhereItsEntryReachesToo) {
  struct OneClass final : test::FakeProvider {
    bool same_class(const problem::Operation&, const problem::Operation&) const override {
      return true;
    }
  } provider;
  options_.budget_seconds = 3;
  double seconds = 0;
  auto runner = std::make_unique<test::FakeRunner>(log_);
  runner->before_job = [&](const std::string&) { seconds += 0.1; };
  test::FakePool pool(6);
  const auto result =
      run_session(options_, store_, provider,
                  {pool, std::move(runner), observer_, trial::kLeaseTime, [&] { return seconds; }});
  ASSERT_TRUE(result) << result.error().message;
  const ProgramTuningResult& session = result->at_sizes.front();
  EXPECT_THAT(observer_.notes, HasSubstr("keep their defaults"));
  EXPECT_EQ(session.not_tuned.size(), 0u);
  ASSERT_EQ(session.tuned.size(), 6u) << observer_.notes;
  for (const TunedDispatch& tuned : session.tuned)
    EXPECT_EQ(tuned.payload->json, "tile=8") << tuned.dispatch->name;
  ASSERT_TRUE(result->best) << result->not_proved;
  EXPECT_EQ(result->best->label, "spec") << observer_.notes;
}

// A model of 200 dispatches: each is tuned, all are proved together.
// Two in one group of three, one in another.
TEST_F(OneTuner, FindsTheEntriesOfManyThatHurtTheProgram) {
  options_.candidates = 4;
  test::FakePool pool(24);
  const double much = 3 * test::fake_seconds(test::kDefaultTile);
  pool.harm = {{"main_dispatch_6", much}, {"main_dispatch_7", much}, {"main_dispatch_20", much}};
  const auto result = run(pool);
  ASSERT_TRUE(result) << result.error().message;
  std::vector<std::string> left_out;
  for (const LeftOut& each : result->proven.left_out) {
    left_out.push_back(each.dispatch);
    EXPECT_THAT(each.reason, HasSubstr("the program is slower with it")) << each.dispatch;
  }
  EXPECT_THAT(left_out,
              UnorderedElementsAre("main_dispatch_6", "main_dispatch_7", "main_dispatch_20"));
  EXPECT_EQ(best_, "spec (helping entries)") << observer_.notes;
}

// Whether the program was timed without one of its entries.
bool ablates(store::Store& store, const ProgramTuningResult& result) {
  const auto rows = store.program_measurements(result.program_id);
  EXPECT_TRUE(rows) << rows.error().message;
  return rows && std::ranges::any_of(*rows, [](const store::ProgramMeasurement& row) {
           return row.variant.find("spec without main_dispatch_") != std::string::npos;
         });
}

// Four kernels that are 30 us faster each.
TEST_F(OneTuner, AblatesNothingWhereWhatKernelsPromiseArrives) {
  test::FakePool pool(4);
  const auto result = run(pool);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(best_, "spec") << observer_.notes;
  EXPECT_FALSE(ablates(store_, *result));
}

// One of them takes 20 us more in the program: 100 of 120 us arrive.
TEST_F(OneTuner, AblatesWhereItDoesNot) {
  test::FakePool pool(4);
  pool.harm = {{"main_dispatch_1", 20e-6}};
  const auto result = run(pool);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(ablates(store_, *result));
}

// Two of three are half of the time and more; once they are faster the third takes most of it.
TEST_F(OneTuner, TakesUpWhatWasBeyondTheCoverageWhereTheRestIsFast) {
  options_.coverage = 0.5;
  test::FakePool pool(3);
  const auto result = run(pool);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->tuned.size(), 3u) << observer_.notes;
  EXPECT_TRUE(result->not_tuned.empty());
}

// The time that it would take goes to those whose kernels can ship.
TEST_F(OneTuner, DoesNotSearchWhatNoSpecCanHold) {
  provider_.without_entry = {"main_dispatch_1"};
  test::FakePool pool(3);
  const auto result = run(pool);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->tuned.size(), 2u);
  ASSERT_EQ(result->not_tuned.size(), 1u);
  EXPECT_EQ(result->not_tuned.front().dispatch, "main_dispatch_1");
  EXPECT_THAT(result->not_tuned.front().reason,
              EndsWith("(--dispatch searches it anyway): it is taken apart"));
}

// How much faster it could be is worth knowing all the same.
TEST_F(OneTuner, SearchesWhatNoSpecCanHoldWhereItIsAllThereIs) {
  provider_.without_entry = {"main_dispatch_0"};
  test::FakePool pool(1);
  const auto result = run(pool);
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_EQ(result->tuned.size(), 1u);
  EXPECT_EQ(result->tuned.front().payload->json, "tile=8");
}

TEST_F(OneTuner, CompilesWhatIsLikelyToShipWhileTheDeviceTimesTheRest) {
  for (device::Place& place : options_.places) place.traits.compiling_disturbs = false;
  test::FakePool pool(2);
  pool.begins_ahead = true;
  ASSERT_TRUE(run(pool));
  EXPECT_EQ(best_, "spec") << observer_.notes;
  // With the spec among its flags, and from the program's own text.
  const auto plain = std::ranges::count_if(pool.taken_ahead, [](const worker::Message& job) {
    return job.kind == provider::jobs::kCompileProgram && !job.body.contains("front_half") &&
           job.body.at("flags").dump().find("spec") != std::string::npos;
  });
  EXPECT_EQ(plain, 1);
}

// The winner's launches are compared at the end of a dispatch's race.
TEST_P(OnCoresAndGpus, TheNextTwoDispatchesCompileWhileFinalistsRaceOnAGpu) {
  test::FakePool pool(3);
  std::size_t begun = 0;
  before_job_ = [&](const std::string& kind) {
    if (kind == "repeat" && begun == 0) begun = pool.with_candidates.size();
  };
  const auto result = run(pool);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(begun, is_cpu() ? 1u : 3u);
  EXPECT_EQ(result->tuned.size(), 3u);
  EXPECT_EQ(pool.compiled, 3 * 8) << "nothing twice";
}

// Four kernels that are 30 us faster each, and something between them that takes 20 us more.
TEST_F(OneTuner, SaysHowMuchOfWhatKernelsPromiseArrives) {
  provider_.tells_times = true;
  test::FakePool pool(4);
  pool.harm = {{"main_dispatch_1", 20e-6}};
  const auto result = run(pool);
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_EQ(gains_.size(), 1u) << observer_.notes;
  const ProgramGain& gain = gains_.front();
  EXPECT_EQ(gain.variant, "spec");
  EXPECT_EQ(gain.without_spec, "default");
  ASSERT_EQ(gain.kernels.size(), 4u);
  for (const KernelGain& kernel : gain.kernels) {
    EXPECT_NEAR(kernel.promised, 30e-6, 2e-6) << kernel.dispatch;
    EXPECT_NEAR(*kernel.before, 130e-6, 1e-9) << kernel.dispatch;
    EXPECT_NEAR(*kernel.after, 100e-6, 1e-9) << kernel.dispatch;
  }
  EXPECT_NEAR(gain.arrived(), 100e-6, 2e-6);
  EXPECT_NEAR(*gain.in_kernels(), 120e-6, 1e-9);
  EXPECT_NEAR(*gain.in_others(), 0, 1e-9);
  EXPECT_NEAR(*gain.between(), -20e-6, 2e-6);
}

// By itself a tile of 8 is the fastest, and one of 4 takes 2 % longer; in the program, where caches
// are cold, the smaller one is.
class ColdProgram : public OneTuner {
 protected:
  static constexpr double kAlone8 = 100e-6, kAlone4 = 102e-6, kCold8 = 120e-6;

  void SetUp() override {
    OneTuner::SetUp();
    provider_.tells_times = true;
    seconds_of_ = [](const std::string& code) { return seconds(test::tile_in(code), kAlone8); };
    pool_.in_program = [](std::int64_t tile) { return seconds(tile, kCold8); };
  }
  static double seconds(std::int64_t tile, double of_8) {
    return tile == 8 ? of_8 : tile == 4 ? kAlone4 : test::fake_seconds(tile);
  }

  test::FakePool pool_{3};
};

TEST_F(ColdProgram, TakesWhatIsFastestThere) {
  const auto result = run(pool_);
  ASSERT_TRUE(result) << result.error().message;
  for (const TunedDispatch& tuned : result->tuned) {
    EXPECT_EQ(tuned.payload->json, "tile=4") << tuned.dispatch->name;
    EXPECT_NEAR(*tuned.selection.speedup, 130.0 / 102, 0.02);
    EXPECT_THAT(store_.candidate(*tuned.selection.winner)->configuration, HasSubstr("4"));
    ASSERT_FALSE(tuned.near_ties.empty());
    EXPECT_EQ(tuned.near_ties[0].payload.json, "tile=8") << "what was the winner";
  }
  EXPECT_EQ(best_, "spec") << observer_.notes;
  EXPECT_THAT(observer_.notes, HasSubstr("(3 of 3 entries) the program is faster"));
  EXPECT_THAT(read_file(options_.out / "tuning_spec.mlir").value(),
              testing::AllOf(HasSubstr("main_dispatch_0 tile=4"), testing::Not(HasSubstr("=8"))));
  ASSERT_EQ(gains_.size(), 1u);
  EXPECT_NEAR(gains_.front().arrived(), 3 * (130e-6 - kAlone4), 2e-6);
}

TEST_F(ColdProgram, ShipsWhatIsFastestAloneWhereThatIsAskedFor) {
  options_.near_ties = false;
  const auto result = run(pool_);
  ASSERT_TRUE(result) << result.error().message;
  for (const TunedDispatch& tuned : result->tuned) EXPECT_EQ(tuned.payload->json, "tile=8");
  ASSERT_EQ(gains_.size(), 1u);
  EXPECT_NEAR(gains_.front().arrived(), 3 * (130e-6 - kCold8), 2e-6);
}

// Two compiles of the program more, and nothing is chosen.
TEST_F(ColdProgram, KeepsTheWinnersWhereTheyAreFastestThereToo) {
  pool_.in_program = test::fake_seconds;
  const auto result = run(pool_);
  ASSERT_TRUE(result) << result.error().message;
  for (const TunedDispatch& tuned : result->tuned) EXPECT_EQ(tuned.payload->json, "tile=8");
  EXPECT_EQ(best_, "spec") << observer_.notes;
}

// Each kernel is faster in the program, and something beside it is slower by more.
TEST_F(ColdProgram, TakesTheWinnersBackWhereTheProgramIsSlowerWithout) {
  for (int i = 0; i < 3; ++i)
    pool_.harm[fmt::format("main_dispatch_{} tile=4", i)] = kCold8 - kAlone4 + 5e-6;
  const auto result = run(pool_);
  ASSERT_TRUE(result) << result.error().message;
  for (const TunedDispatch& tuned : result->tuned) {
    EXPECT_EQ(tuned.payload->json, "tile=8") << tuned.dispatch->name;
    EXPECT_THAT(store_.candidate(*tuned.selection.winner)->configuration, HasSubstr("8"));
  }
  EXPECT_THAT(observer_.notes, HasSubstr("(3 of 3 entries) the program is slower"));
  EXPECT_THAT(observer_.notes, HasSubstr("it is taken back"));
  EXPECT_EQ(best_, "spec") << observer_.notes;
  EXPECT_THAT(read_file(options_.out / "tuning_spec.mlir").value(),
              testing::AllOf(HasSubstr("main_dispatch_0 tile=8"), testing::Not(HasSubstr("=4"))));
}

TEST_F(OneTuner, WhereTheRuntimeTellsNoTimesOnlyTheSumIsCompared) {
  test::FakePool pool(2);
  const auto result = run(pool);
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_EQ(gains_.size(), 1u) << observer_.notes;
  EXPECT_NEAR(gains_.front().promised(), 60e-6, 4e-6);
  EXPECT_NEAR(gains_.front().arrived(), 60e-6, 2e-6);
  EXPECT_FALSE(gains_.front().between());
}

// It has a middling tile for a dispatch that is tuned, and one for another program's.
TEST_F(OneTuner, PutsWhatItFindsBeforeAStarterSpec) {
  options_.starter_spec = folder_.path() / "old.spec";
  ASSERT_TRUE(write_file_atomically(options_.starter_spec,
                                    "main_dispatch_0 tile=4\nanother_dispatch tile=2\n"));
  test::FakePool pool(2);
  const auto result = run(pool);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(best_, "spec") << observer_.notes;
  const std::string spec = read_file(options_.out / "tuning_spec.mlir").value();
  EXPECT_THAT(spec, HasSubstr("main_dispatch_0 tile=8\n"));
  EXPECT_THAT(spec, HasSubstr("main_dispatch_1 tile=8\n"));
  EXPECT_THAT(spec, EndsWith("tile=8\nmain_dispatch_0 tile=4\nanother_dispatch tile=2\n"));
  // Beside what the user had: 230 us, of which the new entries leave 200.
  ASSERT_EQ(gains_.size(), 1u);
  EXPECT_EQ(gains_.front().without_spec, "starter spec");
  EXPECT_NEAR(gains_.front().arrived(), 40e-6, 2e-6);
}

// Nothing found is better than what the user had, which stays.
TEST_F(OneTuner, KeepsAStarterSpecThatIsAsGood) {
  options_.starter_spec = folder_.path() / "old.spec";
  const std::string best = "main_dispatch_0 tile=8\nmain_dispatch_1 tile=8\n";
  ASSERT_TRUE(write_file_atomically(options_.starter_spec, best));
  test::FakePool pool(2);
  const auto result = run(pool);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(best_, "starter spec") << observer_.notes;
  EXPECT_EQ(read_file(options_.out / "tuning_spec.mlir").value(), best);
}

TEST_F(OneTuner, TunesTwoHundredDispatches) {
  options_.candidates = 4;
  test::FakePool pool(200);
  const auto result = run(pool);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->tuned.size(), 200u);
  EXPECT_EQ(result->not_tuned.size(), 0u);
  EXPECT_EQ(best_, "spec") << observer_.notes;
}

}  // namespace
}  // namespace hone::tune
