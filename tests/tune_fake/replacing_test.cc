// Kernels of another provider's in the place of the compiler's: searched beside its configurations,
// proved in the program, written beside the spec.
#include <gmock/gmock.h>

#include "tests/tune_fake/fake_session.h"

namespace hone::tune {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The other's tile of 128 takes 50 us, one of 256 60 us, the compiler's best 100 us, its own choice
// 130.
double seconds_of_tile(std::int64_t tile) {
  return tile == 128 ? 50e-6 : tile == 256 ? 60e-6 : test::fake_seconds(tile);
}

class Replacing : public FakeSession {
 protected:
  Result<TuningResult> run() {
    auto runner = std::make_unique<test::FakeRunner>(log_);
    runner->seconds_of = [](const std::string& code) {
      return seconds_of_tile(test::tile_in(code));
    };
    runner->is_wrong = is_wrong_;
    FakeTools tools{pool_, std::move(runner), observer_};
    tools.replacing = &other_;
    tools.replacing_pool = &others_;
    return run_session(options_, store_, provider_, std::move(tools));
  }
  static std::vector<std::string> files(const std::filesystem::path& folder) {
    std::vector<std::string> names;
    if (!std::filesystem::exists(folder)) return names;
    for (const auto& file : std::filesystem::directory_iterator(folder))
      names.push_back(file.path().filename());
    std::ranges::sort(names);
    return names;
  }
  std::filesystem::path kernels() const { return options_.out / "kernels"; }

  test::FakePool pool_{3}, others_{0};
  test::FakeReplacing other_;
  std::function<bool(const std::string&, std::int64_t)> is_wrong_;
  store::Store store_ = open_store();
  test::FakeRunner::Log log_;
  SilentObserver observer_;
};

TEST_F(Replacing, TheBestKernelWinsWhoeverMadeIt) {
  pool_.in_program = seconds_of_tile;
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  for (const TunedDispatch& tuned : result->at_sizes.front().tuned) {
    const bool is_odd = tuned.dispatch->name == "main_dispatch_1";
    ASSERT_TRUE(tuned.payload) << tuned.selection.reason;
    EXPECT_EQ(tuned.payload->json, is_odd ? "tile=8" : "tile=128");
    EXPECT_EQ(tuned.payload->replacing, is_odd ? "" : "other");
    EXPECT_NEAR(*tuned.selection.speedup, is_odd ? 1.3 : 2.6, 0.03);
    EXPECT_EQ(store_.candidate(*tuned.selection.winner)->provider, is_odd ? "fake" : "other");
  }
  EXPECT_EQ(pool_.compiled, 3 * 8) << "each dispatch's default and seven tiles";
  EXPECT_EQ(others_.compiled, 2 * 2);
  ASSERT_TRUE(result->best);
  EXPECT_EQ(result->best->label, "spec") << observer_.notes;
  EXPECT_EQ(read_file(options_.out / "tuning_spec.mlir").value(), "main_dispatch_1 tile=8\n");
  EXPECT_THAT(files(kernels()), ElementsAre("main_dispatch_0.mlir", "main_dispatch_2.mlir"));
  EXPECT_THAT(read_file(options_.out / "compile_flags.txt").value(),
              testing::AllOf(HasSubstr("--fake-spec="), HasSubstr("--fake-kernels=")));
  ASSERT_EQ(result->gains.size(), 1u);
  EXPECT_NEAR(result->gains.front().promised(), 30e-6 + 2 * 80e-6, 6e-6);
  EXPECT_NEAR(result->gains.front().arrived(), 30e-6 + 2 * 80e-6, 6e-6);
  // What repeats the proof: the fake's modules begin with the seconds of a call.
  ASSERT_TRUE(result->proof_files) << observer_.notes;
  const ProofFiles& proof = *result->proof_files;
  EXPECT_EQ(proof.shipped, options_.out / "proof" / "shipped.vmfb");
  EXPECT_NEAR(
      std::stod(read_file(proof.baseline).value()) - std::stod(read_file(proof.shipped).value()),
      30e-6 + 2 * 80e-6, 6e-6);
  ASSERT_EQ(proof.references.size(), proof.function.outputs.size());
  ASSERT_EQ(proof.tolerances.size(), proof.function.outputs.size());
  EXPECT_EQ(proof.inputs.size(), proof.function.inputs.size());
  for (const std::filesystem::path& file : proof.references) EXPECT_TRUE(read_file(file));
}

// With time for one dispatch at most.
TEST_F(Replacing, ALaterRunShipsThemToo) {
  pool_.in_program = seconds_of_tile;
  ASSERT_TRUE(run());
  options_.budget_seconds = 1e-6;
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_TRUE(result->best);
  EXPECT_EQ(result->best->label, "spec") << observer_.notes;
  EXPECT_EQ(read_file(options_.out / "tuning_spec.mlir").value(), "main_dispatch_1 tile=8\n");
  EXPECT_THAT(files(kernels()), ElementsAre("main_dispatch_0.mlir", "main_dispatch_2.mlir"));
}

// The other's 50 us are below one and a half times what the compiler can reach at best: its own
// configurations are searched where nobody else has a kernel only.
TEST_F(Replacing, WhoCannotWinIsNotSearched) {
  pool_.in_program = seconds_of_tile;
  provider_.least = 40e-6;
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(pool_.compiled, 3 + 7) << "each dispatch's default, and seven tiles of one of them";
  EXPECT_EQ(others_.compiled, 2 * 2);
  EXPECT_THAT(files(kernels()), ElementsAre("main_dispatch_0.mlir", "main_dispatch_2.mlir"));
  const auto stored = store_.events(result->run);
  ASSERT_TRUE(stored) << stored.error().message;
  std::string events;
  for (const store::EventRow& event : *stored) events += event.kind + ": " + event.text + "\n";
  EXPECT_THAT(events, HasSubstr("not searched: main_dispatch_0: of fake no kernel takes less than "
                                "40 us, and one of 50"));
  EXPECT_THAT(observer_.notes, HasSubstr("not searched: main_dispatch_0"));
}

// Of 100 tiles of the compiler's the first 16 take at least 1.9 times as long as the other's best.
TEST_F(Replacing, WhoIsFarBehindAfterItsFirstKernelsIsGivenUp) {
  pool_.in_program = seconds_of_tile;
  provider_.tiles.clear();
  for (space::Value tile = 1; tile <= 100; ++tile) provider_.tiles.push_back(tile);
  options_.dispatches = {"main_dispatch_0"};
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_THAT(observer_.notes, HasSubstr("times as long as another provider's"));
  EXPECT_GE(pool_.compiled, 1 + 16);
  EXPECT_LT(pool_.compiled, 60);
  EXPECT_THAT(files(kernels()), ElementsAre("main_dispatch_0.mlir"));
}

// All kernels of the compiler's are wrong, its default too. One of the three dispatches gets time;
// the third is repaired by the other's kernels alone.
TEST_F(Replacing, ARepairEndsWithTheFirstProviderThatIsRight) {
  pool_.in_program = seconds_of_tile;
  is_wrong_ = [](const std::string& code, std::int64_t) { return test::tile_in(code) < 128; };
  options_.budget_seconds = 1e-6;
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  const std::string& tuned = result->at_sizes.front().tuned.front().dispatch->name;
  EXPECT_EQ(tuned, "main_dispatch_0");
  EXPECT_EQ(result->wrong_by_default.size(), 3u);
  EXPECT_EQ(pool_.compiled, 3 + 7)
      << "each default; seven tiles of what the other has no kernel for";
  EXPECT_THAT(files(kernels()), ElementsAre("main_dispatch_0.mlir", "main_dispatch_2.mlir"));
}

// The compiler's default is what the other's kernels are compared with. What neither has a space
// for is not tuned.
TEST_F(Replacing, WhatTheCompilerHasNoSpaceForCanStillBeReplaced) {
  provider_.without_space = {"main_dispatch_0", "main_dispatch_1"};
  pool_.in_program = seconds_of_tile;
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_EQ(result->at_sizes.front().tuned.size(), 2u);
  for (const TunedDispatch& tuned : result->at_sizes.front().tuned) {
    ASSERT_TRUE(tuned.payload) << tuned.selection.reason;
    EXPECT_EQ(tuned.payload->json, "tile=128");
    EXPECT_NEAR(*tuned.selection.speedup, 2.6, 0.03);
  }
  EXPECT_EQ(pool_.compiled, 1 + 8) << "one default; another and seven tiles";
  EXPECT_EQ(others_.compiled, 2 * 2);
  EXPECT_THAT(files(kernels()), ElementsAre("main_dispatch_0.mlir", "main_dispatch_2.mlir"));
  ASSERT_EQ(result->at_sizes.front().not_tuned.size(), 1u);
  EXPECT_EQ(result->at_sizes.front().not_tuned.front().dispatch, "main_dispatch_1");
  EXPECT_EQ(result->at_sizes.front().not_tuned.front().reason, "its form is odd");
}

// Wrong ones are given up though nobody else has kernels for it.
TEST_F(Replacing, WrongKernelsLeaveTheDefaultWhereTheCompilerHasNoSpace) {
  provider_.without_space = {"main_dispatch_0"};
  options_.dispatches = {"main_dispatch_0"};
  pool_.in_program = seconds_of_tile;
  is_wrong_ = [](const std::string& code, std::int64_t) { return test::tile_in(code) >= 128; };
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_FALSE(result->at_sizes.front().tuned.front().payload);
  EXPECT_THAT(files(kernels()), testing::IsEmpty());
}

// It is not the sum of its kernels: what they cost their neighbours shows in the program only.
TEST_F(Replacing, AKernelThatIsFasterAloneAndNotInTheProgramIsLeftOut) {
  pool_.in_program = [](std::int64_t tile) { return tile == 128 ? 200e-6 : seconds_of_tile(tile); };
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_THAT(files(kernels()), testing::IsEmpty());
  EXPECT_EQ(read_file(options_.out / "tuning_spec.mlir").value(), "main_dispatch_1 tile=8\n");
  const std::vector<LeftOut>& left_out = result->at_sizes.front().proven.left_out;
  ASSERT_EQ(left_out.size(), 2u);
  for (const LeftOut& each : left_out)
    EXPECT_THAT(each.reason, HasSubstr("the program is slower with it"));
}

TEST_F(Replacing, WithNothingToConfigureThereIsNoSpec) {
  pool_.in_program = seconds_of_tile;
  options_.dispatches = {"main_dispatch_0"};
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->best->label, "spec") << observer_.notes;
  EXPECT_FALSE(std::filesystem::exists(options_.out / "tuning_spec.mlir"));
  EXPECT_THAT(files(kernels()), ElementsAre("main_dispatch_0.mlir"));
  EXPECT_THAT(read_file(options_.out / "compile_flags.txt").value(),
              testing::Not(HasSubstr("--fake-spec=")));
}

// A kernel for another dispatch may have this one's form: forty wrong ones are not all tried.
TEST_F(Replacing, AProviderWhoseKernelsAreAllWrongIsGivenUp) {
  pool_.in_program = seconds_of_tile;
  other_.tiles.clear();
  for (space::Value tile = 1000; tile < 1040; ++tile) other_.tiles.push_back(tile);
  is_wrong_ = [](const std::string& code, std::int64_t) { return test::tile_in(code) >= 1000; };
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_GE(others_.compiled, 2 * 8);
  EXPECT_LT(others_.compiled, 2 * 30);
  EXPECT_THAT(observer_.notes, HasSubstr("main_dispatch_0: none of other's "));
  for (const TunedDispatch& tuned : result->at_sizes.front().tuned)
    EXPECT_EQ(tuned.payload->json, "tile=8") << "the compiler's best";
}

// Both launches of the first kernel get the one that is right and faster in each: 128, which is the
// fastest of the first, is wrong in the second.
TEST_F(Replacing, AKernelIsVerifiedInAllLaunchesOfWhatItReplaces) {
  pool_.in_program = seconds_of_tile;
  pool_.launch_sets = {2};
  is_wrong_ = [](const std::string& code, std::int64_t rows) {
    return rows == 10 && test::tile_in(code) == 128;
  };
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  for (const TunedDispatch& tuned : result->at_sizes.front().tuned)
    if (tuned.dispatch->name == "main_dispatch_0") {
      ASSERT_TRUE(tuned.payload) << tuned.selection.reason;
      EXPECT_EQ(tuned.payload->json, "tile=256") << observer_.notes;
    }
  EXPECT_THAT(files(kernels()), ElementsAre("main_dispatch_0.mlir"));
}

TEST_F(Replacing, WhatTheUserKeepsBesideTheKernelsStays) {
  pool_.in_program = seconds_of_tile;
  std::filesystem::create_directories(kernels());
  ASSERT_TRUE(write_file_atomically(kernels() / "mine.mlir", "the user's"));
  ASSERT_TRUE(write_file_atomically(kernels() / "main_dispatch_1.mlir", "an earlier run's"));
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_THAT(files(kernels()),
              ElementsAre("main_dispatch_0.mlir", "main_dispatch_2.mlir", "mine.mlir"));
}

TEST_F(Replacing, WinnersHaveTheDefaultBesideThemThoughAnotherMadeIt) {
  pool_.in_program = seconds_of_tile;
  ASSERT_TRUE(run());
  const auto rows = store_.dispatch_rows();
  ASSERT_TRUE(rows) << rows.error().message;
  ASSERT_EQ(rows->size(), 3u);
  for (const store::DispatchView& row : *rows) {
    ASSERT_TRUE(row.default_row);
    EXPECT_NEAR(*row.default_row->median_seconds, 130e-6, 2e-6);
  }
}

// The winner's code and how it is launched are kept with it.
TEST_F(Replacing, GoesOnWhereItWasStopped) {
  pool_.in_program = seconds_of_tile;
  pool_.stopped_after = 12;  // in the second dispatch
  EXPECT_EQ(run().error().kind, ErrorKind::kInterrupted);
  const int before = others_.compiled;
  pool_.stopped_after = std::numeric_limits<int>::max();
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(before, 2) << "of the first dispatch";
  EXPECT_EQ(others_.compiled, 4);
  EXPECT_THAT(files(kernels()), ElementsAre("main_dispatch_0.mlir", "main_dispatch_2.mlir"));
  EXPECT_EQ(result->best->label, "spec") << observer_.notes;
}

}  // namespace
}  // namespace hone::tune
