// Phases add up to the session's wall time, whatever is inside what.
#include "trial/time_budget.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace hone::trial {
namespace {

using Seconds = std::chrono::duration<double>;

std::map<std::string, TimeRow> by_phase(TimeBudget& budget) {
  std::map<std::string, TimeRow> rows;
  for (const TimeRow& row : budget.rows()) rows[std::string(row.phase)] = row;
  return rows;
}

TEST(TimeBudget, CountsAPhaseInsideAnotherOnce) {
  const auto begin = std::chrono::steady_clock::now();
  TimeBudget budget;
  {
    const TimeBudget::Span finalists(budget, Activity::kFinalists);
    const TimeBudget::Span load(budget, Activity::kLoad);
  }
  { const TimeBudget::Span load(budget, Activity::kLoad); }
  auto rows = by_phase(budget);
  const Seconds most = std::chrono::steady_clock::now() - begin;
  EXPECT_EQ(rows["load"].count, 2u);
  EXPECT_EQ(rows["finalists"].count, 1u);
  EXPECT_EQ(rows["verify"].count, 0u);
  double sum = 0;
  for (const auto& [phase, row] : rows)
    if (row.of == "session") sum += row.seconds;
  EXPECT_GT(sum, 0);
  EXPECT_LE(sum, most.count());
}

TEST(TimeBudget, AddsUpTheStagesOfWhatCompiled) {
  TimeBudget budget;
  CompiledCandidate compiled;
  compiled.artifact = provider::Artifact{};
  compiled.seconds = 1.0;
  compiled.stages = {.configure = 0.125, .translate = 0.25, .serialize = 0.25, .assemble = 0.125};
  budget.add(compiled, 1);
  budget.add(compiled, 2);
  CompiledCandidate failed;
  failed.artifact = tl::unexpected(provider::Failure{});
  failed.seconds = 3;
  budget.add(failed, 3);
  auto rows = by_phase(budget);
  EXPECT_EQ(rows["translate"].seconds, 0.5);
  EXPECT_EQ(rows["assemble"].seconds, 0.25);
  EXPECT_EQ(rows["fork and answer"].seconds, 0.5);
  EXPECT_EQ(rows["fork and answer"].count, 2u);
  EXPECT_EQ(rows["what failed"].seconds, 3);
}

// The table's phases are the sums of the stretches, which follow each other.
TEST(TimeBudget, KeepsWhatPassedInItsOrder) {
  TimeBudget budget;
  {
    const TimeBudget::Span program(budget, Activity::kProgram);
    EXPECT_EQ(budget.describe("round 1"), "");
    EXPECT_EQ(budget.describe(""), "round 1");
    { const TimeBudget::Span load(budget, Activity::kLoad, "2 kernels"); }
  }
  const std::vector<TimeRow> rows = budget.rows();
  const Timeline& timeline = budget.timeline();
  std::vector<std::string> order;
  std::map<std::string_view, double> sums;
  double from = 0;
  for (const Timeline::Stretch& stretch : timeline.stretches) {
    order.push_back(fmt::format("{}: {}", name_of(stretch.activity), stretch.what));
    sums[name_of(stretch.activity)] += stretch.end - from;
    from = stretch.end;
  }
  EXPECT_THAT(order, testing::ElementsAre("search and store: ", "program: ", "program: round 1",
                                          "program: ", "load: 2 kernels",
                                          "program: ", "search and store: "));
  for (const TimeRow& row : rows)
    if (row.of == "session" && row.phase != name_of(Activity::kOther)) {
      EXPECT_NEAR(row.seconds, sums[row.phase], 1e-9) << row.phase;
    }
}

// 0.1234567 s are 123457 us.
TEST(Timeline, IsReadBackInMicroseconds) {
  const Timeline timeline{
      .stretches = {{Activity::kWait, 0.5}, {Activity::kMeasure, 2, "3 kernels"}},
      .compiles = {{7, 0.25, 0.1234567, true, {}}, {8, 0.5, 1, false, {0.125, 0.25, 0.5, 0.0625}}},
      .jobs = {{"compile_program", 0.125, 2}}};
  const nlohmann::json json = timeline;
  EXPECT_EQ(json.at("session").dump(), R"([[4,500000],[7,2000000,"3 kernels"]])");
  EXPECT_EQ(json.at("compiles").at(0).dump(), "[7,250000,123457,1,0,0,0,0]");
  Timeline read = json.get<Timeline>();
  EXPECT_EQ(read.compiles.at(0).seconds, 0.123457);
  read.compiles.at(0).seconds = 0.1234567;
  EXPECT_EQ(read, timeline);
  EXPECT_EQ(read.seconds(), 2);
}

// As numbers change their meaning with the list of phases, their names are beside them.
TEST(Timeline, IsRefusedWhereItMeansNothing) {
  nlohmann::json json = Timeline{.stretches = {{Activity::kWait, 1}}};
  json["phases"][4] = "sleep";
  EXPECT_THROW(json.get<Timeline>(), nlohmann::json::exception);
  json = Timeline{.stretches = {{Activity::kWait, 1}}};
  json["session"][0][0] = 11;
  EXPECT_THROW(json.get<Timeline>(), nlohmann::json::exception);
}

}  // namespace
}  // namespace hone::trial
