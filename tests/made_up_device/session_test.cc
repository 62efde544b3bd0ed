// Sessions on a device of which no folder of src/ knows: it is verified and measured on as any, and
// what is done there follows from its traits.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/made_up_device/abacus.h"
#include "tests/tune_fake/fake_session.h"
#include "tests/tune_fake/own_runner.h"

namespace hone::tune {
namespace {

using testing::Each;
using testing::Gt;
using testing::IsEmpty;
using testing::Not;

// hone's own runner, and what it was asked.
class WatchedRunner final : public worker::RunnerTransport {
 public:
  struct Asked {
    worker::Message job;
    std::size_t compiles = 0;  // that were under way or not yet looked at
  };
  WatchedRunner(std::vector<device::DeviceKind> kinds, const worker::WorkerPool& pool,
                std::vector<Asked>& asked)
      : runner_(std::move(kinds)), pool_(pool), asked_(asked) {}

  Status start() override { return runner_.start(); }
  Status ensure_ready() override { return runner_.ensure_ready(); }
  std::uint64_t generation() const override { return runner_.generation(); }
  Result<worker::Outcome> call(const worker::Message& message, double seconds) override {
    asked_.push_back({message, pool_.outstanding()});
    return runner_.call(message, seconds);
  }

 private:
  test::OwnRunner runner_;
  const worker::WorkerPool& pool_;
  std::vector<Asked>& asked_;
};

class MadeUpDevice : public FakeSession {
 protected:
  void SetUp() override {
    FakeSession::SetUp();
    options_.places = {test::abacus(log_).places({0}).value().at(1)};
    options_.compile_ahead = 2;
  }

  Result<TuningResult> run() {
    test::FakePool pool(1);
    auto runner = std::make_unique<WatchedRunner>(std::vector{test::abacus(log_)}, pool, asked_);
    return run_session(options_, store_, provider_, {pool, std::move(runner), observer_});
  }

  device::Traits& traits() { return options_.places.front().traits; }

  // The requests of this kind, in order.
  std::vector<WatchedRunner::Asked> asked(std::string_view kind) const {
    std::vector<WatchedRunner::Asked> found = asked_;
    std::erase_if(found, [kind](const auto& each) { return each.job.kind != kind; });
    return found;
  }
  // Of candidates beside the default; the rounds of finalists have no sentinel.
  std::vector<std::size_t> compiles_while_searching() const {
    std::vector<std::size_t> compiles;
    for (const WatchedRunner::Asked& each : asked("measure"))
      if (each.job.body.contains("sentinel")) compiles.push_back(each.compiles);
    return compiles;
  }

  store::Store store_ = open_store();
  SilentObserver observer_;
  test::AbacusLog log_;
  std::vector<WatchedRunner::Asked> asked_;
};

TEST_F(MadeUpDevice, VerifiesAndMeasuresInItsOwnMemory) {
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_EQ(result->at_sizes.front().tuned.size(), 1u) << observer_.notes;
  const TunedDispatch& tuned = result->at_sizes.front().tuned.front();
  ASSERT_TRUE(tuned.payload) << tuned.selection.reason;
  EXPECT_EQ(tuned.payload->json, "tile=8");
  EXPECT_NEAR(*tuned.selection.speedup, 1.3, 0.01);
  const std::vector<store::CandidateView> rows = store_.candidate_rows().value();
  for (const store::CandidateView& row : rows) EXPECT_EQ(row.right, true) << row.configuration;

  EXPECT_THAT(log_.opened, testing::AllOf(Not(IsEmpty()), Each(1)));  // its index
  EXPECT_GT(log_.uploads, 0);
  EXPECT_GT(log_.downloads, 0);
  for (const WatchedRunner::Asked& each : asked("set_problem"))
    EXPECT_EQ(each.job.body.at("device"),
              nlohmann::json({{"kind", "abacus"}, {"index", 1}, {"cores", {0}}}));
}

TEST_F(MadeUpDevice, CompilesAndMeasuresInTurnsWhereCompilingDisturbs) {
  ASSERT_TRUE(run());
  EXPECT_THAT(compiles_while_searching(), testing::AllOf(Not(IsEmpty()), Each(0u)));
}

TEST_F(MadeUpDevice, CompilesAheadWhereItDoesNot) {
  traits().compiling_disturbs = false;
  ASSERT_TRUE(run());
  EXPECT_THAT(compiles_while_searching(), testing::Contains(Gt(0u)));
}

TEST_F(MadeUpDevice, ScreensByOneBatchWhereThatTells) {
  const auto factors = [this] {
    std::set<double> found;
    for (const WatchedRunner::Asked& each : asked("measure"))
      if (each.job.body.contains("sentinel"))
        found.insert(each.job.body.at("protocol").at("screen_factor").get<double>());
    return found;
  };
  ASSERT_TRUE(run());
  EXPECT_THAT(factors(), testing::ElementsAre(1.3));
}

// What `hone worker devices` says of it is all that a tuner has.
TEST(MadeUpPlace, TravelsAsJson) {
  test::AbacusLog log;
  const std::vector<device::Place> places = test::abacus(log).places({0, 3}).value();
  for (const device::Place& place : places)
    EXPECT_EQ(nlohmann::json::parse(nlohmann::json(place).dump()).get<device::Place>(), place);
  EXPECT_EQ(device::name_of(places[1].address), "abacus:1");
  EXPECT_EQ(device::find_place(places, "abacus", 1).value(), places[1]);
  EXPECT_EQ(device::find_place(places, "abacus", 2).error().message,
            "device abacus:2 is not there: this machine has abacus:0 (abacus of 13 rods), abacus:1 "
            "(abacus of 13 rods)");
}

}  // namespace
}  // namespace hone::tune
