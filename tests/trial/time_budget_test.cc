// Phases add up to the session's wall time, whatever is inside what.
#include "trial/time_budget.h"

#include <gmock/gmock.h>

#include <chrono>
#include <map>
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
  budget.add(compiled);
  budget.add(compiled);
  CompiledCandidate failed;
  failed.artifact = tl::unexpected(provider::Failure{});
  failed.seconds = 3;
  budget.add(failed);
  auto rows = by_phase(budget);
  EXPECT_EQ(rows["translate"].seconds, 0.5);
  EXPECT_EQ(rows["assemble"].seconds, 0.25);
  EXPECT_EQ(rows["fork and answer"].seconds, 0.5);
  EXPECT_EQ(rows["fork and answer"].count, 2u);
  EXPECT_EQ(rows["what failed"].seconds, 3);
}

}  // namespace
}  // namespace hone::trial
