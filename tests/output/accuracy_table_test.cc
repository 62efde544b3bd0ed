#include "output/accuracy_table.h"

#include <gmock/gmock.h>

namespace hone::output {
namespace {

using testing::HasSubstr;

// Of a hundred elements `off` are one step away.
measure::OutputAccuracy output(std::int64_t off) {
  measure::OutputAccuracy accuracy{.binding = 3};
  accuracy.difference.elements = 100;
  accuracy.difference.different = off;
  accuracy.difference.by_ulp[0] = off;
  accuracy.difference.largest = off > 0 ? 0.5 : 0;
  if (off > 0) {
    accuracy.first = 17;
    accuracy.got = 1.5;
    accuracy.expected = 2;
  }
  return accuracy;
}

// Two dispatches with a kernel of Triton's each, of which the second rounds more, and one that
// keeps the compiler's.
class AccuracyTable : public testing::Test {
 protected:
  AccuracyTable() {
    for (const char* const name : {"exact", "rounds", "kept"})
      dispatches_.emplace_back().name = name;
    tune::ProgramTuningResult session;
    for (const problem::Dispatch& dispatch : dispatches_) {
      tune::TunedDispatch tuned;
      tuned.dispatch = &dispatch;
      if (dispatch.name != "kept") {
        tuned.payload = provider::Payload{nlohmann::json::object(), "triton@3.6.0"};
        tuned.accuracy = {{output(4)},
                          {output(dispatch.name == "exact" ? 0 : 10)},
                          "f32, NV_MMA_SYNC_F32_16x8x16_F16, reduction = [0, 0, 2]",
                          "f32, 64 at a time"};
      }
      session.tuned.push_back(std::move(tuned));
    }
    result_.at_sizes.push_back(std::move(session));
  }

  std::vector<problem::Dispatch> dispatches_;
  tune::TuningResult result_;
};

TEST_F(AccuracyTable, HasTheCompilersBesideEachKernelThatMostRoundsFirst) {
  const nlohmann::json rows = accuracy_table(result_).to_json();
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0]["dispatch"], "rounds");
  EXPECT_EQ(rows[0]["provider"], "compiler");
  EXPECT_EQ(rows[0]["exact"], 96);
  EXPECT_EQ(rows[1]["provider"], "triton@3.6.0");
  EXPECT_EQ(rows[1]["exact"], 90);
  EXPECT_EQ(rows[1]["off_by_1"], 10);
  EXPECT_EQ(rows[1]["off_by_>256"], 0);
  EXPECT_EQ(rows[1]["first"]["element"], 17);
  EXPECT_EQ(rows[0]["sums"], "f32, NV_MMA_SYNC_F32_16x8x16_F16, reduction = [0, 0, 2]");
  EXPECT_EQ(rows[1]["sums"], "f32, 64 at a time");
  EXPECT_EQ(rows[3]["dispatch"], "exact");
  EXPECT_EQ(rows[3]["exact"], 100);
  EXPECT_TRUE(rows[3]["first"].is_null());
}

TEST_F(AccuracyTable, IsCutAfterSoManyKernels) {
  const std::string text = accuracy_table(result_, 1).to_text();
  EXPECT_THAT(text, HasSubstr("element 17: 1.5, exactly 2"));
  EXPECT_THAT(text, testing::Not(HasSubstr("exact ")));
  result_.at_sizes.front().tuned.resize(0);
  EXPECT_TRUE(accuracy_table(result_).empty());
}

}  // namespace
}  // namespace hone::output
