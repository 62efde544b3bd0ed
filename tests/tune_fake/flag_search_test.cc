// The search of the compiler's flags, on fakes: which sets are tried, and which is the best.
#include "tune/program/flag_search.h"

#include <gmock/gmock.h>

#include <limits>

#include "tests/tune_fake/fake_session.h"
#include "tune/program/fusion_sets.h"

namespace hone::tune {
namespace {

using testing::HasSubstr;

struct ProviderWithFlags final : test::FakeProvider {
  // The first samples of the default's module that take three times as long as they should.
  mutable int disturbed = 0;
  // Samples until every further one is interrupted.
  mutable int fails_after = std::numeric_limits<int>::max();
  Result<double> time_program(const provider::ProgramCall& call) const override {
    if (fails_after-- <= 0) return tl::unexpected(Error{ErrorKind::kInterrupted, "killed"});
    HONE_ASSIGN(const double time, FakeProvider::time_program(call));
    const bool is_default = time > 0.99 * kDefault && time < 1.01 * kDefault;
    return is_default && disturbed-- > 0 ? 3 * time : time;
  }
  static constexpr double kDefault = 2 * 1.3e-4;  // two dispatches of fake_seconds(1)
};

provider::FlagChoice choice(const std::string& name, const std::string& group,
                            const std::string& flag) {
  return {name, group, {flag}, "a reason"};
}

std::string times(const std::string& factor, const std::string& by = "") {
  return std::string(test::kTimesFlag) + by + "=" + factor;
}

class FlagSearch : public FakeSession {
 protected:
  // A GPU: eight launches, of which each takes a second.
  void count_launches() {
    pool_.launches = 8;
    options_.places.front().facts.launch_seconds = 1;
  }

  Result<FoundFlags> search(const FlagSearchRequest& request = {}) {
    options_.search_flags = true;
    trial::CompileService compiler(pool_);
    test::FakeRunner::Log log;
    trial::RunnerService runner(std::make_unique<test::FakeRunner>(log));
    Context context{options_, provider_, compiler, runner, store_, observer_};
    context.programs = &provider_;
    if (others_replace_) context.replacing = {&provider_};
    if (begins_early_) HONE_TRY(begin_to_judge_fusion(context, "a program", request.given));
    if (compile_seconds_) context.state->deadline.compiled(*compile_seconds_);
    if (call_seconds_) context.state->deadline.called(*call_seconds_);
    store::BuildRow build;
    build.compiler = "fake";
    build.flags = "[]";
    build.target = "{}";
    HONE_ASSIGN(context.baseline.build, store_.intern(build));
    store::DeviceRow device;
    device.name = "fake";
    device.protocol = "{}";
    HONE_ASSIGN(context.device, store_.intern(device));
    HONE_ASSIGN(problem::Program program,
                compiler.load_program({options_.input, "a program", options_.flags}));
    if (narrow_)
      program.dispatches.front().computation.values.emplace_back().type =
          problem::ElementType::kF16;
    HONE_TRY(store_.begin_run({}));
    Result<FoundFlags> found =
        search_flags(context, program, "a program", program.functions.front(), request);
    HONE_TRY(store_.end_run(store::RunState::kFinished));
    return found;
  }

  static const FlagTrial* trial(const FoundFlags& found, const std::string& name) {
    const auto at = std::ranges::find(found.trials, name, &FlagTrial::label);
    return at == found.trials.end() ? nullptr : &*at;
  }

  store::Store store_ = open_store();
  SilentObserver observer_;
  ProviderWithFlags provider_;
  test::FakePool pool_{2};
  bool others_replace_ = false;  // there are other providers' kernels
  bool begins_early_ = false;    // before the program itself is split
  // Of the unmodified program; none: as long as it takes.
  std::optional<double> compile_seconds_, call_seconds_;
  bool narrow_ = false;  // the program computes in f16
};

TEST_F(FlagSearch, FindsTheBestOfEachGroupTogether) {
  provider_.choices = {choice("early tiling", "tiling", times("0.9")),
                       choice("tiling", "tiling", times("0.8")),
                       choice("fusion", "fusion", times("0.9", "-by-fusion")),
                       choice("slower", "speed", times("1.1", "-by-nothing"))};
  const auto found = search();
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->best.name, "tiling + fusion");
  EXPECT_NEAR(found->speedup(found->best).value(), 1 / (0.8 * 0.9), 0.01);
  // Two of one group are never together.
  for (const FlagTrial& each : found->trials)
    EXPECT_FALSE(std::ranges::count(each.choices, "tiling") > 0 &&
                 std::ranges::count(each.choices, "early tiling") > 0);
  ASSERT_TRUE(found->verdict);
  EXPECT_EQ(found->verdict->recommended, Recommended::kChosen);
}

// One of 1.6 times the default's time leaves in the first round, where the default took thrice as
// long: it is not for that the best.
TEST_F(FlagSearch, ADisturbedRoundMakesNothingTheBestThatLeftInIt) {
  provider_.choices = {choice("good", "a", times("0.8")),
                       choice("poor", "b", times("1.6", "-by-poor"))};
  provider_.disturbed = 1;
  const auto found = search();
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->best.name, "good");
  ASSERT_NE(trial(*found, "poor"), nullptr);
  EXPECT_EQ(trial(*found, "poor")->rounds, 1u);
  EXPECT_NEAR(*trial(*found, "poor")->ratio, 1.6, 0.02);
}

// An earlier run proved 0.5 to 0.55 of the default's time for a spec on the program as it is.
TEST_F(FlagSearch, TunesWhatAnEarlierRunTunedToLessTime) {
  provider_.choices = {choice("fast", "speed", times("0.8"))};
  const auto before = search({.for_tuning = true});
  ASSERT_TRUE(before) << before.error().message;
  EXPECT_EQ(before->bases.front().name, "fast");
  const auto known = store_.program_measurements(1);
  ASSERT_TRUE(known);
  store::ProgramMeasurement row = known->front();
  const auto build = store_.build(row.build);
  ASSERT_TRUE(build);
  store::BuildRow plain = *build;
  plain.flags = nlohmann::json(options_.flags).dump();
  row.id = 0;
  row.build = store_.intern(plain).value();
  row.purpose = store::Purpose::kProof;
  row.spec = "a spec";
  row.right = true;
  row.ratio_high = 0.85;
  ASSERT_TRUE(store_.record(row));
  EXPECT_EQ(search({.for_tuning = true})->bases.front().name, "fast") << "0.8 untuned is less";
  row.ratio_high = 0.55;
  ASSERT_TRUE(store_.record(row));
  EXPECT_EQ(search({.for_tuning = true})->bases.front().name, "");
}

// What competes with tuning is no ground for it: the best of the others has its own climb.
TEST_F(FlagSearch, FindsWhatToTuneWithBesideTheBest) {
  provider_.choices = {choice("tiling", "tiling", times("0.7")),
                       choice("im2col", "convolutions", times("0.8", "-by-im2col")),
                       choice("fusion", "fusion", times("0.9", "-by-fusion"))};
  provider_.choices[0].reach = provider::SpecReach::kNothing;
  const auto found = search({.for_tuning = true});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->best.name, "tiling + im2col + fusion");
  EXPECT_EQ(found->bases.front().name, "im2col + fusion");
  EXPECT_NEAR(found->speedup(found->bases.front()).value(), 1 / (0.8 * 0.9), 0.01);
}

// Tiles are a ground of their own where they are near the best, however fast operations are that
// are not tiled.
TEST_F(FlagSearch, FindsTilesToTuneWhereTheyAreNearTheBest) {
  provider_.choices = {choice("late tiling", "tiling", times("0.7")),
                       choice("early tiling", "tiling", times("0.75")),
                       choice("fusion", "fusion", times("0.9", "-by-fusion"))};
  provider_.choices[0].reach = provider::SpecReach::kNothing;
  provider_.choices[1].reach = provider::SpecReach::kTiles;
  const auto found = search({.for_tuning = true});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->best.name, "late tiling + fusion");
  ASSERT_EQ(found->bases.size(), 2u);
  EXPECT_EQ(found->bases[0].name, "fusion");
  EXPECT_EQ(found->bases[1].name, "fusion + early tiling");
  provider_.choices[1].flags = {times("0.95")};
  const auto far = search({.for_tuning = true});
  ASSERT_TRUE(far) << far.error().message;
  ASSERT_EQ(far->bases.size(), 1u);
  EXPECT_EQ(far->bases[0].name, "fusion");
}

// How fast products of weights in blocks are shows only once they are tuned: they are a ground of
// their own beside what is faster untuned, and the only one where they are the fastest as they are.
TEST_F(FlagSearch, FindsBlocksToTuneWhereTheyAreNearWhatHasNone) {
  provider_.choices = {choice("blocks", "tiling", times("0.9", "-by-blocks")),
                       choice("generic", "tiling", times("0.8", "-by-generic")),
                       choice("fusion", "fusion", times("0.9", "-by-fusion"))};
  provider_.choices[0].reach = provider::SpecReach::kBlocks;
  const auto bases = [&] {
    std::vector<std::string> names;
    const auto found = search({.for_tuning = true});
    EXPECT_TRUE(found) << found.error().message;
    if (found)
      for (const FlagSet& base : found->bases) names.push_back(base.name);
    return names;
  };
  EXPECT_THAT(bases(), testing::ElementsAre("generic + fusion", "fusion + blocks"));
  provider_.choices[0].flags = {times("0.7", "-by-blocks")};
  EXPECT_THAT(bases(), testing::ElementsAre("blocks + fusion"));
  provider_.choices[0].flags = {times("1.1", "-by-blocks")};
  EXPECT_THAT(bases(), testing::ElementsAre("generic + fusion"));
}

// Under another layout the compiler's own code may be slow only until other kernels replace it.
TEST_F(FlagSearch, TunesAnotherLayoutTooWhereKernelsAreReplaced) {
  provider_.choices = {choice("fast", "speed", times("0.8")),
                       choice("layout", "layout", times("1.2", "-by-layout"))};
  provider_.choices[1].changes = provider::DispatchChange::kLayouts;
  const auto bases = [&] {
    std::vector<std::string> names;
    const auto found = search({.for_tuning = true});
    EXPECT_TRUE(found) << found.error().message;
    if (found)
      for (const FlagSet& base : found->bases) names.push_back(base.name);
    return names;
  };
  EXPECT_THAT(bases(), testing::ElementsAre("fast"));
  others_replace_ = true;
  EXPECT_THAT(bases(), testing::ElementsAre("fast", "fast + layout"));
  provider_.choices[1].flags = {times("2.5", "-by-layout")};
  EXPECT_THAT(bases(), testing::ElementsAre("fast"));
  provider_.choices[1].flags = {times("0.9", "-by-layout")};
  EXPECT_THAT(bases(), testing::ElementsAre("fast + layout"));
}

provider::FlagChoice fused(const std::string& name, const std::string& more) {
  provider::FlagChoice choice{
      name, name, {fmt::format("{}-by-{}", test::kFusedFlag, name), more}, "a reason"};
  choice.changes = provider::DispatchChange::kFusion;
  return choice;
}

// Fused dispatches are slow until they are tuned: what decides is how many launches are left, 4, 2
// and 1 of 8. Wrong outputs are no reason against it, as a wrong dispatch is repaired.
TEST_F(FlagSearch, FindsTheFusionToTuneByItsLaunches) {
  pool_.launches = 8;
  device::Place place = options_.place();
  place.facts.launch_seconds = 1;
  options_.places = {place};
  const auto bases = [&] {
    std::vector<std::string> names;
    const auto found = search({.for_tuning = true});
    EXPECT_TRUE(found) << found.error().message;
    if (found)
      for (const FlagSet& base : found->bases) names.push_back(base.name);
    return names;
  };
  provider_.choices = {fused("up", times("1.4", "-by-up")), fused("down", "--no-effect"),
                       choice("fast", "speed", times("0.8"))};
  EXPECT_THAT(bases(), testing::ElementsAre("up + down + fast"));
  provider_.choices[0] = fused("up", std::string(test::kWrongFlag));
  EXPECT_THAT(bases(), testing::ElementsAre("up + down"));
  EXPECT_THAT(bases(), testing::ElementsAre("up + down")) << "as a run that continues finds it";
  provider_.choices[0] = fused("up", std::string(test::kRefusedFlag));
  EXPECT_THAT(bases(), testing::ElementsAre("down + fast"));
  // A region goes with whatever else is fused. Its operations are hone's: wrong outputs exclude it.
  provider_.choices[0] = fused("region", "--no-effect");
  provider_.choices[0].changes = provider::DispatchChange::kRegions;
  options_.budget_seconds = 60;
  EXPECT_THAT(bases(), testing::ElementsAre("down + region + fast"));
  // A whole session tunes its parts too, and the last proof compares both.
  options_.budget_seconds = 600;
  EXPECT_THAT(bases(), testing::ElementsAre("down + region + fast", "down"));
  provider_.choices[0] = fused("region", std::string(test::kWrongFlag));
  provider_.choices[0].changes = provider::DispatchChange::kRegions;
  EXPECT_THAT(bases(), testing::ElementsAre("down + fast"));
  EXPECT_THAT(bases(), testing::ElementsAre("down + fast")) << "as a run that continues finds it";
  // Wrong kernels of another layout are the compiler's, and repaired.
  provider_.choices[0] = fused("layout", std::string(test::kWrongFlag));
  provider_.choices[0].changes = provider::DispatchChange::kLayouts;
  EXPECT_THAT(bases(), testing::ElementsAre("down + layout"));
  // Nobody has kernels for its attention: it is not formed.
  provider_.choices[0] = fused("region", std::string(test::kAttentionFlag));
  provider_.choices[0].changes = provider::DispatchChange::kRegions;
  EXPECT_THAT(bases(), testing::ElementsAre("down + fast"));
  // Where launches cost nothing, the time of the untuned program is all there is to go by.
  place.facts.launch_seconds = 0;
  options_.places = {place};
  EXPECT_THAT(bases(), testing::ElementsAre("fast"));
}

// A convolution that reads its 1,000 bytes in a second: channels first, with filters by channels,
// and channels last.
TEST_F(FlagSearch, PromisesLessOfOperandsThatAreLoadedElementByElement) {
  const auto promised = [&](std::vector<std::int64_t> image, std::vector<std::int64_t> filter) {
    problem::Statement statement;
    for (std::size_t i = 0; i < image.size(); ++i)
      statement.loops.push_back({problem::LoopRole::kM, 16});
    statement.views.emplace_back().multiple = 64;
    statement.operands = {{.type = problem::ElementType::kF16, .strides = std::move(image)},
                          {.type = problem::ElementType::kF16, .strides = std::move(filter)}};
    statement.stores.emplace_back();
    problem::Program program;
    problem::Dispatch& dispatch = program.dispatches.emplace_back();
    dispatch.launches_per_call = 1;
    dispatch.bindings.emplace_back().bytes = 1000;
    dispatch.statement = statement;
    trial::CompileService compiler(pool_);
    test::FakeRunner::Log log;
    trial::RunnerService runner(std::make_unique<test::FakeRunner>(log));
    options_.places.front().facts.rough_bytes = 1000;
    return promise_of(Context{options_, provider_, compiler, runner, store_, observer_}, program)
        .seconds;
  };
  EXPECT_EQ(promised({0, 16, 1, 256, 16, 1}, {2304, 0, 0, 9, 3, 1}), 4);
  EXPECT_EQ(promised({0, 16, 1, 256, 16, 1}, {0, 0, 1, 768, 256, 16}), 2);
  EXPECT_EQ(promised({4096, 256, 0, 4096, 256, 1}, {0, 0, 1, 768, 256, 16}), 1);
}

// A split and a trial of a program take most of its compile's time. Where that is too long, all
// time is left to the dispatches.
TEST_F(FlagSearch, BeginsNothingOnAGpuThatDoesNotEndInTime) {
  count_launches();
  provider_.choices = {fused("up", "--no-effect"), choice("fast", "speed", times("0.8"))};
  compile_seconds_ = 100;
  const auto found = search({.seconds = 60, .for_tuning = true});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->trials.size(), 1u) << "the default";
  EXPECT_EQ(found->not_tried.size(), 2u);
  EXPECT_EQ(pool_.loads.size(), 1u) << "of the program as it is";
  compile_seconds_ = 10;
  const auto in_time = search({.seconds = 60, .for_tuning = true});
  ASSERT_TRUE(in_time) << in_time.error().message;
  EXPECT_EQ(in_time->bases.front().name, "up + fast");
}

// A split of 70 s is more than the minute that the search has, and less than two: a layout is
// looked at, fusion alone is not.
TEST_F(FlagSearch, LooksAtLayoutsWhereFusionTakesTooLong) {
  count_launches();
  options_.budget_seconds = 1000;
  provider_.choices = {fused("up", "--no-effect")};
  compile_seconds_ = 100;
  const auto fusion = search({.seconds = 60, .for_tuning = true});
  ASSERT_TRUE(fusion) << fusion.error().message;
  EXPECT_EQ(fusion->bases.front().name, "");
  provider_.choices.front().changes = provider::DispatchChange::kLayouts;
  const auto layout = search({.seconds = 60, .for_tuning = true});
  ASSERT_TRUE(layout) << layout.error().message;
  EXPECT_EQ(layout->bases.front().name, "up");
}

// A split takes 70 s, so four of 16 processes split at a time, and there is time for no more. One
// of the layouts may be of no use: each alone is among them.
TEST_F(FlagSearch, SplitsTheLikeliestSetsOfALongProgramFirst) {
  count_launches();
  options_.budget_seconds = 1000;
  options_.compile_jobs = 16;
  provider_.choices = {fused("a", "--a"), fused("b", "--b"), fused("l", "--l"), fused("m", "--m")};
  for (const std::size_t i : {2u, 3u})
    provider_.choices[i].changes = provider::DispatchChange::kLayouts;
  compile_seconds_ = 100;
  const auto found = search({.seconds = 60, .for_tuning = true});
  ASSERT_TRUE(found) << found.error().message;
  std::set<std::string> split;
  for (const auto& [flags, times] : pool_.loads) {
    std::string letters;
    for (const std::string flag : {"--a", "--b", "--l", "--m"})
      if (std::ranges::count(flags, flag) > 0) letters += flag.back();
    split.insert(letters);
  }
  EXPECT_THAT(split, testing::UnorderedElementsAre("", "ablm", "lm", "l", "m"));
}

// A split takes 70 s, as long as the search has: it begins before the program itself is split.
TEST_F(FlagSearch, BeginsTheFirstSplitsBesideTheProgramsOwn) {
  begins_early_ = true;
  pool_.begins_ahead = true;
  count_launches();
  options_.budget_seconds = 1000;
  provider_.choices = {fused("up", "--no-effect"), choice("fast", "speed", times("0.8"))};
  compile_seconds_ = 100;
  ASSERT_TRUE(search({.seconds = 60, .for_tuning = true}));
  ASSERT_EQ(pool_.begun_ahead.size(), 1u);
  EXPECT_EQ(pool_.begun_ahead.front().kind, provider::jobs::kLoadProgram);
  EXPECT_THAT(pool_.begun_ahead.front().body.at("flags").dump(), HasSubstr("by-up"));
  // Where launches cost nothing, fusion is not judged.
  options_.places.front().facts.launch_seconds = 0;
  ASSERT_TRUE(search({.seconds = 60, .for_tuning = true}));
  EXPECT_EQ(pool_.begun_ahead.size(), 1u);
}

// A split takes 14 s and a trial two minutes: the base compiles while its dispatches are tuned.
TEST_F(FlagSearch, LeavesTheTrialOfAFusedBaseToTheProofWhereItTakesTooLong) {
  pool_.begins_ahead = true;
  count_launches();
  options_.budget_seconds = 1000;
  provider_.choices = {fused("up", "--no-effect"), choice("fast", "speed", times("0.8"))};
  compile_seconds_ = 20;
  call_seconds_ = 20;
  const auto found = search({.seconds = 60, .for_tuning = true});
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->bases.size(), 1u);
  EXPECT_EQ(found->bases.front().name, "up");
  EXPECT_EQ(found->speedup(found->bases.front()), std::nullopt);
  EXPECT_EQ(pool_.programs_compiled, 1) << "the default";
  ASSERT_EQ(pool_.taken_ahead.size(), 1u);
  EXPECT_EQ(pool_.taken_ahead.front().kind, provider::jobs::kLoadProgram)
      << "the split, before the default was called";
}

TEST_F(FlagSearch, WhatFailsIsARowAndNotTheEnd) {
  provider_.choices = {choice("refused", "a", std::string(test::kRefusedFlag)),
                       choice("wrong", "b", std::string(test::kWrongFlag)),
                       choice("without effect", "c", "--nothing"),
                       choice("tiling", "d", times("0.8"))};
  const auto found = search();
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_THAT(trial(*found, "refused")->failure, HasSubstr("does not compile: refused"));
  EXPECT_THAT(trial(*found, "wrong")->failure, HasSubstr("wrong"));
  EXPECT_EQ(trial(*found, "without effect")->same_as, "default");
  EXPECT_EQ(found->best.name, "tiling");
  // What failed alone is not tried with others; what did nothing is, once.
  EXPECT_EQ(trial(*found, "tiling + refused"), nullptr);
  EXPECT_EQ(trial(*found, "tiling + wrong"), nullptr);
  ASSERT_NE(trial(*found, "tiling + without effect"), nullptr);
  EXPECT_EQ(trial(*found, "tiling + without effect")->same_as, "tiling");
}

// The default gives 0 to 3, the choice 1 to 4. Where the program in f32 gives 1 to 4 too, the
// default is off by 1 / sqrt(7.5), and the choice is right.
TEST_F(FlagSearch, OutputsLikeThoseInF32AreRightWhereTheDefaultsAreFarFromThem) {
  narrow_ = true;
  const std::string wrong(test::kWrongFlag);
  provider_.choices = {{"layout", "a", {wrong, times("0.8", "-by-layout")}, "a reason"}};
  pool_.in_f32 = "1 wrong";
  const auto found = search();
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->best.name, "layout") << trial(*found, "layout")->failure;
  provider_.choices = {{"other", "a", {wrong, times("0.7", "-by-other")}, "a reason"}};
  pool_.in_f32 = "1 right";
  const auto other = search();
  ASSERT_TRUE(other) << other.error().message;
  EXPECT_EQ(other->best.name, "");
  EXPECT_THAT(trial(*other, "other")->failure, HasSubstr("wrong"));
}

TEST_F(FlagSearch, NothingIsBestWhereNothingIsFaster) {
  provider_.choices = {choice("slower", "a", times("1.2")), choice("same", "b", times("0.999"))};
  const auto found = search();
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->best.name, "");
  EXPECT_FALSE(found->verdict);
}

// Only what is to run again is compiled: the default, and the best.
TEST_F(FlagSearch, ASecondRunKnowsWhatTheFirstFound) {
  provider_.choices = {choice("slower", "a", times("1.2")),
                       choice("refused", "b", std::string(test::kRefusedFlag)),
                       choice("tiling", "c", times("0.8"))};
  ASSERT_TRUE(search());
  pool_.programs_compiled = 0;
  const auto again = search();
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->best.name, "tiling");
  EXPECT_TRUE(trial(*again, "slower")->known);
  EXPECT_THAT(trial(*again, "refused")->failure, HasSubstr("refused"));
  EXPECT_EQ(pool_.programs_compiled, 2);
}

// The run ends as by a kill in the second round: the times of the first are in the store.
TEST_F(FlagSearch, ARunKilledBetweenRoundsKeepsTheTimesOfTheFirst) {
  provider_.choices = {choice("slower", "a", times("1.2")), choice("tiling", "b", times("0.8")),
                       choice("fusion", "c", times("0.9", "-by-fusion"))};
  options_.compile_jobs = 3;
  provider_.fails_after = 4;  // the default and three sets
  ASSERT_FALSE(search());
  provider_.fails_after = std::numeric_limits<int>::max();
  const auto again = search();
  ASSERT_TRUE(again) << again.error().message;
  for (const char* name : {"slower", "tiling", "fusion"}) {
    ASSERT_NE(trial(*again, name), nullptr) << name;
    EXPECT_TRUE(trial(*again, name)->known) << name;
  }
  EXPECT_EQ(again->best.name, "tiling + fusion");
}

// The fewest compiles that are asked for do not outlast a budget that is used up.
TEST_F(FlagSearch, ABudgetThatIsUsedUpEndsTheSearch) {
  options_.compile_ahead = 2;
  for (const char* name : {"a", "b", "c", "d", "e", "f"})
    provider_.choices.push_back(choice(name, name, times("0.9", std::string("-by-") + name)));
  const auto found = search({.seconds = 0, .compiles = 15});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_LT(found->trials.size(), 7u);
  ASSERT_FALSE(found->not_tried.empty());
  EXPECT_THAT(found->not_tried.back().why_not, HasSubstr("no time"));
}

TEST_F(FlagSearch, WhatHasNoUseIsNamedWithItsReason) {
  provider_.choices = {choice("tiling", "a", times("0.8")), choice("im2col", "b", "--im2col")};
  provider_.choices[1].why_not = "the program has no convolution";
  const auto found = search();
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->not_tried.size(), 1u);
  EXPECT_EQ(found->not_tried[0].why_not, "the program has no convolution");
  EXPECT_EQ(trial(*found, "im2col"), nullptr);
}

TEST_F(FlagSearch, WritesTheFilesThatFlagsName) {
  const std::filesystem::path file = options_.out / "blocks.mlir";
  provider_.choices = {choice("blocks", "a", times("0.8", "-by-" + file.string())),
                       choice("useless", "b", "--useless")};
  provider_.choices[0].files = {{file, "a spec"}};
  provider_.choices[1].files = {{options_.out / "useless.mlir", "a spec"}};
  provider_.choices[1].why_not = "the program has no product of matrices";
  const auto found = search();
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->best.name, "blocks");
  EXPECT_EQ(read_file(file).value_or("no file"), "a spec");
  EXPECT_FALSE(std::filesystem::exists(options_.out / "useless.mlir"));
}

class TuningWithFlags : public FlagSearch {
 protected:
  void SetUp() override {
    FlagSearch::SetUp();
    options_.search_flags = true;
    options_.candidates = 4;
  }
  Result<TuningResult> tune(test::FakePool& pool) {
    return tune(pool, std::make_unique<test::FakeRunner>(log_));
  }
  Result<TuningResult> tune(test::FakePool& pool, std::unique_ptr<test::FakeRunner> runner) {
    return run_session(options_, store_, provider_, {pool, std::move(runner), observer_});
  }
  test::FakeRunner::Log log_;
};

// What was tuned under the flags that the stopped run chose is found again only under them.
TEST_F(TuningWithFlags, ARunThatGoesOnKeepsItsFlags) {
  provider_.choices = {choice("fusion", "fusion", times("0.8", "-by-fusion"))};
  test::FakePool first(2), second(2);
  first.stopped_after = 5;
  const auto stopped = tune(first);
  ASSERT_FALSE(stopped);
  ASSERT_EQ(stopped.error().kind, ErrorKind::kInterrupted) << stopped.error().message;
  provider_.choices.push_back(choice("better", "better", times("0.5", "-by-more")));
  const auto result = tune(second);
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_TRUE(result->best);
  EXPECT_EQ(result->best->label, "fusion + spec") << observer_.notes;
}

// The best tile takes 1.3 times less than the default.
TEST_F(TuningWithFlags, OfTwoBasesTheOneWithTheFasterSpecShips) {
  provider_.choices = {choice("tiling", "tiling", times("0.75"))};
  provider_.choices[0].reach = provider::SpecReach::kTiles;
  test::FakePool both_gain(2);
  auto result = tune(both_gain);
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_TRUE(result->best);
  EXPECT_EQ(result->best->label, "tiling + spec") << observer_.notes;
  EXPECT_EQ(result->at_sizes.front().tuned.size(), 2u);
  EXPECT_EQ(result->best->shipped.size(), 2u);
}

TEST_F(TuningWithFlags, AnEarlierBaseWinsInTheRoundsOfTheLast) {
  provider_.choices = {choice("tiling", "tiling", times("0.9"))};
  provider_.choices[0].flags.emplace_back(test::kDeafFlag);
  provider_.choices[0].reach = provider::SpecReach::kTiles;
  test::FakePool pool(2);
  const auto result = tune(pool);
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_TRUE(result->best);
  EXPECT_EQ(result->best->label, "spec") << observer_.notes;
  // The dispatches of the base that won are those that are told of, and are marked as shipped.
  std::size_t shipped = 0;
  for (const TunedDispatch& tuned : result->at_sizes.front().tuned)
    shipped += std::ranges::count(result->best->shipped, tuned.id) > 0 ? 1 : 0;
  EXPECT_EQ(shipped, 2u);
  const auto selections = store_.selections();
  ASSERT_TRUE(selections);
  EXPECT_EQ(std::ranges::count(*selections, true, &store::SelectionRow::shipped), 2);
}

// At this peak products of 8 and 9 rows, 1024 and 1152 operations, take 51.2 and 57.6 us: of the
// 130 us of the first base's defaults half may be saved, of the tiles' 53 and 60 us next to
// nothing.
TEST_F(TuningWithFlags, ABaseAtThePeakLeavesItsTimeToTheOther) {
  provider_.choices = {choice("tiling", "tiling", times("0.75"))};
  provider_.choices[0].reach = provider::SpecReach::kTiles;
  test::FakePool pool(2);
  auto runner = std::make_unique<test::FakeRunner>(log_);
  runner->peak = {.gflops = 0.02, .instructions = "fake"};
  runner->seconds_of = [](const std::string& code) {
    const bool tiled = code.find(times("0.75")) != std::string::npos;
    if (!tiled) return test::fake_seconds(test::tile_in(code));
    return code.find("8 rows") != std::string::npos ? 5.3e-5 : 6e-5;
  };
  const auto result = tune(pool, std::move(runner));
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_THAT(observer_.notes, HasSubstr("tuning 2 of 2, with tiling"));
  EXPECT_THAT(observer_.notes, HasSubstr("nothing is searched here, too little to gain"));
  // The default of each dispatch and its four candidates; of the tiles the default only.
  EXPECT_EQ(pool.compiled, 2 * 5 + 2);
}

// What the first base's dispatches took is not done again.
TEST_F(TuningWithFlags, ARunStoppedInItsSecondBaseGoesOnThere) {
  provider_.choices = {choice("tiling", "tiling", times("0.75"))};
  provider_.choices[0].reach = provider::SpecReach::kTiles;
  test::FakePool whole(2);
  Result<store::Store> own =
      store::Store::open(folder_.path() / "whole.db", store::Mode::kReadWrite);
  ASSERT_TRUE(own);
  test::FakeRunner::Log log;
  ASSERT_TRUE(run_session(options_, *own, provider_,
                          {whole, std::make_unique<test::FakeRunner>(log), observer_}));
  test::FakePool first(2), second(2);
  first.stopped_after = whole.compiled * 3 / 4;
  const auto stopped = tune(first);
  ASSERT_FALSE(stopped);
  ASSERT_EQ(stopped.error().kind, ErrorKind::kInterrupted) << stopped.error().message;
  EXPECT_THAT(observer_.notes, HasSubstr("tuning 2 of 2, with tiling"));
  const auto result = tune(second);
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_TRUE(result->best);
  EXPECT_EQ(result->best->label, "tiling + spec");
  // The dispatch that was stopped at is prepared again, the three before it are not.
  EXPECT_LE(second.compiled, whole.compiled / 2);
}

TEST_F(TuningWithFlags, TilesThatCannotBeTunedAreNoBase) {
  provider_.choices = {choice("tiling", "tiling", std::string(test::kUntunableFlag))};
  provider_.choices[0].flags.push_back(times("0.7"));
  provider_.choices[0].reach = provider::SpecReach::kTiles;
  test::FakePool pool(2);
  const auto result = tune(pool);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_THAT(observer_.notes, HasSubstr("with tiling the dispatches cannot be tuned"));
  EXPECT_EQ(result->at_sizes.front().tuned.size(), 2u);
  ASSERT_TRUE(result->best);
  EXPECT_EQ(result->best->label, "tiling + spec");
}

TEST_F(TuningWithFlags, FlagsUnderWhichNothingCanBeTunedCompete) {
  provider_.choices = {choice("untunable", "a", std::string(test::kUntunableFlag))};
  provider_.choices[0].flags.push_back(times("0.9"));
  test::FakePool pool(2);
  const auto result = tune(pool);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_THAT(observer_.notes, HasSubstr("with untunable the dispatches cannot be tuned"));
  // The default stays as it was loaded at first: the time for another load may be used up.
  EXPECT_EQ(pool.loads.at({"--target=host"}), 1);
  EXPECT_EQ(result->at_sizes.front().tuned.size(), 2u);
  ASSERT_TRUE(result->best);
  // What was found without the flags ships with them where both together are proved best.
  EXPECT_EQ(result->best->label, "untunable + spec") << observer_.notes;
}

}  // namespace
}  // namespace hone::tune
