// Programs with a kernel of the compiler's that computes something else: they are repaired, and the
// user is told.
#include <gmock/gmock.h>

#include <cmath>

#include "tests/tune_fake/one_tuner.h"

namespace hone::tune {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;

// The compiler's own kernel of the second dispatch, a product of nine rows, computes something
// else, by itself and in the program.
class WrongByDefault : public OneTuner {
 protected:
  WrongByDefault() {
    is_wrong_ = [](const std::string& code, std::int64_t rows) {
      return rows == 9 && test::tile_in(code) == test::kDefaultTile;
    };
    pool_.is_wrong = [](const std::string& dispatch, std::int64_t tile) {
      return dispatch == "main_dispatch_1" && tile == test::kDefaultTile;
    };
  }
  std::map<std::string, std::string> spec() const {
    return test::spec_in({provider_.flag_of(options_.out / "tuning_spec.mlir")});
  }

  test::FakePool pool_{3};
};

TEST_F(WrongByDefault, IsRepairedAndTheOthersAreComparedWithThat) {
  const auto result = run(pool_);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(best_, "spec") << observer_.notes;
  EXPECT_THAT(repairs_, ElementsAre("main_dispatch_1"));
  EXPECT_THAT(wrong_by_default_, ElementsAre("main_dispatch_1"));
  EXPECT_THAT(spec(), testing::SizeIs(3));
  EXPECT_THAT(observer_.notes, HasSubstr("result 0 of the default is wrong in 4 of 4 elements, by "
                                         "1 at most: repaired are main_dispatch_1"));
}

// On another device the host's cores are a witness: their results are 0 to 3, as the repaired
// program's are, or 1 to 4, or there are none. The root mean square of 1, 2, 3, 4 is sqrt(7.5).
TEST_F(WrongByDefault, TheWholeIsAskedOfTheHost) {
  const std::vector<std::pair<std::string, std::optional<double>>> cases{
      {"1 right", 0}, {"1 wrong", 1 / std::sqrt(7.5)}, {"", std::nullopt}};
  for (const auto& [in_f32, error] : cases) {
    options_.places.front().traits.runs_on_host = false;
    pool_.in_f32 = in_f32;
    const auto result = run(pool_);
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(best_, "spec");
    EXPECT_THAT(repairs_, ElementsAre("main_dispatch_1"));
    EXPECT_EQ(repaired_error_, error) << observer_.notes;
    const bool unknown = observer_.notes.find(
                             "right as a whole is not known: in f32 the program "
                             "does not compile") != std::string::npos;
    EXPECT_EQ(unknown, !error) << observer_.notes;
    start_anew();
  }
}

// Half a second is kept for each of 58 defaults, more than there is: the search ends once one is
// wrong.
TEST_F(WrongByDefault, LeavesTimeToVerifyWhatIsNotTuned) {
  test::FakePool pool(60);
  pool.is_wrong = pool_.is_wrong;
  options_.places.front().traits.compiling_disturbs = false;
  options_.budget_seconds = 20;
  const auto result = run(pool);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_LT(result->tuned.size(), 10u) << observer_.notes;
  EXPECT_THAT(wrong_by_default_, ElementsAre("main_dispatch_1"));
  EXPECT_THAT(repairs_, ElementsAre("main_dispatch_1"));
  ASSERT_FALSE(result->not_tuned.empty());
  EXPECT_THAT(result->not_tuned.back().reason, HasSubstr("no budget left"));
}

// The right kernels all take longer than the wrong one, alone and in the program.
TEST_F(WrongByDefault, IsRepairedAtAnyPrice) {
  const auto seconds_of = [](std::int64_t tile) {
    return tile == test::kDefaultTile ? 5e-5 : test::fake_seconds(tile);
  };
  seconds_of_ = [=](const std::string& code) { return seconds_of(test::tile_in(code)); };
  pool_.in_program = seconds_of;
  const auto result = run(pool_);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(best_, "spec") << observer_.notes;
  EXPECT_THAT(repairs_, ElementsAre("main_dispatch_1"));
  EXPECT_THAT(spec(), ElementsAre(Pair("main_dispatch_1", "tile=8")));
}

// The third entry slows a neighbour; what makes the program right stays.
TEST_F(WrongByDefault, StaysRepairedWhereAnotherEntryIsLeftOut) {
  pool_.harm = {{"main_dispatch_2", 3 * test::fake_seconds(test::kDefaultTile)}};
  const auto result = run(pool_);
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_EQ(result->proven.left_out.size(), 1u) << observer_.notes;
  EXPECT_EQ(result->proven.left_out.front().dispatch, "main_dispatch_2");
  EXPECT_THAT(repairs_, ElementsAre("main_dispatch_1"));
  EXPECT_THAT(spec(),
              ElementsAre(Pair("main_dispatch_0", "tile=8"), Pair("main_dispatch_1", "tile=8")));
}

// No configuration of it is right either: it is named, and the others are tuned.
TEST_F(WrongByDefault, IsNamedWhereNothingIsRight) {
  is_wrong_ = [](const std::string&, std::int64_t rows) { return rows == 9; };
  pool_.is_wrong = [](const std::string& dispatch, std::int64_t) {
    return dispatch == "main_dispatch_1";
  };
  const auto result = run(pool_);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(best_, "spec") << observer_.notes;
  EXPECT_THAT(repairs_, testing::IsEmpty());
  EXPECT_THAT(wrong_by_default_, ElementsAre("main_dispatch_1"));
  EXPECT_THAT(spec(), testing::SizeIs(2));
}

// Outputs that are zero whatever the kernels compute clear no kernel: each is verified by itself,
// and nothing is kept for the outputs' sake.
TEST_F(WrongByDefault, IsFoundWhereOutputsSayNothing) {
  is_wrong_ = [](const std::string& code, std::int64_t rows) {
    return rows != 8 && test::tile_in(code) == test::kDefaultTile;
  };
  provider_.says_nothing = true;
  options_.most_dispatches = 1;
  const auto result = run(pool_);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_THAT(observer_.notes, HasSubstr("cannot be checked by the program's outputs (result 0: "
                                         "each of its elements is 0)"));
  EXPECT_THAT(wrong_by_default_, ElementsAre("main_dispatch_1", "main_dispatch_2"));
  EXPECT_THAT(observer_.notes, HasSubstr("3 of 3 dispatches are verified by themselves"));
}

// A benchmark that returns nothing is timed and tuned as any other program.
TEST_F(WrongByDefault, IsFoundWhereTheFunctionReturnsNothing) {
  pool_.returns_nothing = true;
  const auto result = run(pool_);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(best_, "spec") << observer_.notes;
  EXPECT_THAT(repairs_, ElementsAre("main_dispatch_1"));
  EXPECT_THAT(observer_.notes, HasSubstr("(the function returns nothing)"));
  EXPECT_THAT(observer_.notes, HasSubstr("3 of 3 dispatches are verified by themselves"));
}

// It has no part of the time to speak of, and would not be searched.
TEST_F(WrongByDefault, IsLookedForInWhatIsNotTunedToo) {
  is_wrong_ = [](const std::string& code, std::int64_t rows) {
    return rows != 8 && test::tile_in(code) == test::kDefaultTile;
  };
  options_.most_dispatches = 2;
  const auto result = run(pool_);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_THAT(repairs_, UnorderedElementsAre("main_dispatch_1", "main_dispatch_2"))
      << observer_.notes;
}

// Nothing can be found for it, but that it is wrong is said.
TEST_F(WrongByDefault, IsNamedWhereThereIsNoSpaceEither) {
  is_wrong_ = [](const std::string& code, std::int64_t rows) {
    return rows != 8 && test::tile_in(code) == test::kDefaultTile;
  };
  provider_.without_space = {"main_dispatch_2"};
  const auto result = run(pool_);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_THAT(repairs_, ElementsAre("main_dispatch_1")) << observer_.notes;
  EXPECT_THAT(wrong_by_default_, ElementsAre("main_dispatch_1", "main_dispatch_2"));
}

// By itself the right kernel runs, in the program it does not: the others ship without it.
TEST_F(WrongByDefault, IsLeftOutWhereTheRepairedProgramDoesNotRun) {
  provider_.does_not_run = fmt::format("main_dispatch_1 {} ", test::fake_seconds(test::kBestTile));
  const auto result = run(pool_);
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_EQ(result->proven.left_out.size(), 1u) << observer_.notes;
  EXPECT_EQ(result->proven.left_out.front().dispatch, "main_dispatch_1");
  EXPECT_THAT(result->proven.left_out.front().reason,
              HasSubstr("repaired by it the whole program does not run: a fault"));
  EXPECT_THAT(repairs_, testing::IsEmpty());
  EXPECT_THAT(spec(),
              ElementsAre(Pair("main_dispatch_0", "tile=8"), Pair("main_dispatch_2", "tile=8")));
}

// A run that is stopped behind it knows it to be wrong from what the first has kept.
TEST_F(WrongByDefault, IsNamedByARunThatGoesOn) {
  is_wrong_ = [](const std::string&, std::int64_t rows) { return rows == 9; };
  options_.prove = false;
  command_ = "hone tune";
  test::FakePool stopped(3);
  stopped.stopped_after = 18;  // in the third dispatch
  EXPECT_FALSE(run(stopped));
  const auto result = run(pool_);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_THAT(wrong_by_default_, ElementsAre("main_dispatch_1"));
}

// What a second run takes from the first is still a repair.
TEST_F(WrongByDefault, IsRepairedByARunThatGoesOn) {
  options_.prove = false;
  command_ = "hone tune";
  test::FakePool stopped(3);
  stopped.is_wrong = pool_.is_wrong;
  stopped.stopped_after = 18;  // in the third dispatch
  EXPECT_FALSE(run(stopped));
  options_.prove = true;
  const auto result = run(pool_);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_THAT(repairs_, ElementsAre("main_dispatch_1")) << observer_.notes;
}

TEST_F(WrongByDefault, IsRepairedByALaterRunWithLessTime) {
  ASSERT_TRUE(run(pool_));
  options_.budget_seconds = 1e-6;
  const auto result = run(pool_);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_THAT(repairs_, ElementsAre("main_dispatch_1")) << observer_.notes;
  EXPECT_THAT(wrong_by_default_, ElementsAre("main_dispatch_1"));
  EXPECT_THAT(spec(), testing::SizeIs(3));
}

// The program does not compile as it is. One choice changes nothing of that; with the other one it
// computes what its independent compile does, and is tuned.
TEST_F(OneTuner, GoesOnWithTheFlagsThatRepairAProgram) {
  options_.search_flags = true;
  test::FakePool pool(2);
  pool.repaired_by = "--repairs";
  pool.in_f32 = "1 right";
  provider_.choices = {{"other", "a", {"--other"}, "a reason"},
                       {"repair", "b", {"--repairs"}, "a reason"}};
  const auto result = run(pool);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(best_, "spec") << observer_.notes;
  EXPECT_THAT(observer_.notes, HasSubstr("as it is, the program does not compile: refused"));
  EXPECT_THAT(observer_.notes, HasSubstr("with repair it works: that is the default"));
  EXPECT_THAT(*read_file(options_.out / "compile_flags.txt"),
              testing::AllOf(HasSubstr("--repairs"), HasSubstr("tuning_spec.mlir")));
}

// Stopped in the second dispatch, it goes on there.
TEST_F(OneTuner, ARepairedProgramGoesOnWhereItWasStopped) {
  options_.search_flags = true;
  provider_.choices = {{"repair", "b", {"--repairs"}, "a reason"}};
  test::FakePool stopped(2), pool(2);
  stopped.stopped_after = 9;
  for (test::FakePool* each : {&stopped, &pool}) {
    each->repaired_by = "--repairs";
    each->in_f32 = "1 right";
  }
  EXPECT_FALSE(run(stopped));
  EXPECT_THAT(stopped.with_candidates, testing::SizeIs(2));
  const auto result = run(pool);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(best_, "spec") << observer_.notes;
  EXPECT_THAT(pool.with_candidates, testing::SizeIs(1)) << "the second";
}

// Where compiling does not disturb, regions are tried first, and the other choices side by side.
TEST_F(OneTuner, TriesToRepairAProgramByRegionsFirst) {
  options_.search_flags = true;
  options_.places.front().traits.compiling_disturbs = false;
  test::FakePool pool(2);
  pool.repaired_by = "--repairs";
  pool.in_f32 = "1 right";
  pool.begins_ahead = true;
  provider_.choices = {{"other", "a", {"--other"}, "a reason"},
                       {"repair", "b", {"--repairs"}, "a reason"},
                       {"regions", "c", {"--regions"}, "a reason"}};
  provider_.choices.back().changes = provider::DispatchChange::kRegions;
  const auto result = run(pool);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_THAT(observer_.notes, HasSubstr("with repair it works"));
  std::vector<std::string> compiled;
  for (const worker::Message& job : pool.taken_ahead)
    if (job.kind == provider::jobs::kCompileProgram)
      compiled.push_back(job.body.at("flags").back().get<std::string>());
  compiled.resize(std::min<std::size_t>(compiled.size(), 3));
  EXPECT_THAT(compiled, ElementsAre("--target=host", "--other", "--repairs"));
}

}  // namespace
}  // namespace hone::tune
