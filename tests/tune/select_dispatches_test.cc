#include "tune/services/select_dispatches.h"

#include <gmock/gmock.h>

namespace hone::tune {
namespace {

problem::Dispatch dispatch(const std::string& name, const std::string& not_tunable = "") {
  problem::Dispatch dispatch;
  dispatch.name = name;
  dispatch.not_tunable = not_tunable;
  return dispatch;
}

problem::Program program() {
  problem::Program program;
  program.path = "model.mlir";
  program.dispatches = {dispatch("main_dispatch_0_matmul"),
                        dispatch("main_dispatch_1_softmax", "a softmax"),
                        dispatch("main_dispatch_2_matmul")};
  return program;
}

TEST(SelectDispatches, TakesAllThatCanBeTunedAndNamesTheRest) {
  const problem::Program model = program();
  std::vector<NotTuned> not_tuned;
  const auto chosen = select_dispatches(model, {}, not_tuned);
  ASSERT_TRUE(chosen);
  EXPECT_THAT(*chosen, testing::ElementsAre(&model.dispatches[0], &model.dispatches[2]));
  ASSERT_EQ(not_tuned.size(), 1u);
  EXPECT_EQ(not_tuned[0].dispatch, "main_dispatch_1_softmax");
  EXPECT_EQ(not_tuned[0].reason, "a softmax");
}

// What makes constants is not worth a user's time, unless it is asked for, or is all there is.
TEST(SelectDispatches, LeavesOutWhatRunsOnceAtLoad) {
  problem::Program model = program();
  model.dispatches[2].launches_per_call = 3;
  std::vector<NotTuned> not_tuned;
  const auto chosen = select_dispatches(model, {}, not_tuned);
  ASSERT_TRUE(chosen);
  EXPECT_THAT(*chosen, testing::ElementsAre(&model.dispatches[2]));
  EXPECT_EQ(not_tuned[0].reason, "it runs once, when the module is loaded");
  const auto wanted = select_dispatches(model, {"*_0_*"}, not_tuned);
  ASSERT_TRUE(wanted);
  EXPECT_THAT(*wanted, testing::ElementsAre(&model.dispatches[0]));
}

TEST(SelectDispatches, FollowsPatterns) {
  const problem::Program model = program();
  std::vector<NotTuned> not_tuned;
  const auto chosen = select_dispatches(model, {"*_2_*"}, not_tuned);
  ASSERT_TRUE(chosen);
  EXPECT_THAT(*chosen, testing::ElementsAre(&model.dispatches[2]));
  EXPECT_TRUE(not_tuned.empty());
}

// Nobody types "resnet50_nhwc_dispatch_4_matmul_like_56x56x64x64_f16xf16xf32".
TEST(SelectDispatches, TakesWholeWordsOfNames) {
  problem::Program model;
  model.dispatches = {dispatch("main$async_dispatch_4_matmul"), dispatch("main_dispatch_47_matmul"),
                      dispatch("main_dispatch_47"), dispatch("main_dispatch_5_matmul_like")};
  const auto chosen = [&](const std::string& wanted) {
    std::vector<NotTuned> not_tuned;
    std::vector<std::size_t> numbers;
    const auto found = select_dispatches(model, {wanted}, not_tuned);
    if (found)
      for (const problem::Dispatch* const each : *found)
        numbers.push_back(static_cast<std::size_t>(each - model.dispatches.data()));
    return numbers;
  };
  EXPECT_THAT(chosen("dispatch_4"), testing::ElementsAre(0));
  EXPECT_THAT(chosen("async_dispatch_4"), testing::ElementsAre(0));
  EXPECT_THAT(chosen("dispatch_47"), testing::ElementsAre(1, 2));
  EXPECT_THAT(chosen("main_dispatch_47"), testing::ElementsAre(2));  // the one that is called so
  EXPECT_THAT(chosen("matmul"), testing::ElementsAre(0, 1, 3));
  EXPECT_THAT(chosen("ispatch_5"), testing::IsEmpty());
  EXPECT_THAT(chosen(""), testing::IsEmpty());
}

TEST(SelectDispatches, APatternWithoutAMatchIsTheUsersMistake) {
  const problem::Program model = program();
  std::vector<NotTuned> not_tuned;
  const auto chosen = select_dispatches(model, {"main_dispatch_0_matmull"}, not_tuned);
  ASSERT_FALSE(chosen);
  EXPECT_EQ(chosen.error().kind, ErrorKind::kInput);
  EXPECT_EQ(chosen.error().message.substr(0, 92),
            "no dispatch of 'model.mlir' matches 'main_dispatch_0_matmull' (did you mean "
            "'main_dispatch_0");
}

TEST(SelectDispatches, NothingTunableGivesTheReasons) {
  const problem::Program model = program();
  std::vector<NotTuned> not_tuned;
  const auto chosen = select_dispatches(model, {"*softmax"}, not_tuned);
  ASSERT_FALSE(chosen);
  EXPECT_EQ(chosen.error().message,
            "nothing in 'model.mlir' can be tuned:\n  main_dispatch_1_softmax: a softmax");
}

TEST(FindDispatch, ByNumberNameOrPatternOfOne) {
  const problem::Program model = program();
  EXPECT_EQ(*find_dispatch(model, "1"), &model.dispatches[1]);
  EXPECT_EQ(*find_dispatch(model, "main_dispatch_2_matmul"), &model.dispatches[2]);
  EXPECT_EQ(*find_dispatch(model, "*softmax"), &model.dispatches[1]);
}

TEST(FindDispatch, SaysWhatThereIs) {
  const problem::Program model = program();
  EXPECT_EQ(find_dispatch(model, "3").error().message,
            "there is no dispatch 3 in 'model.mlir', which has 3, numbered from 0");
  EXPECT_THAT(find_dispatch(model, "*matmul").error().message,
              "more than one dispatch of 'model.mlir' matches '*matmul': main_dispatch_0_matmul, "
              "main_dispatch_2_matmul");
  EXPECT_THAT(find_dispatch(model, "main_dispatch_1_softmx").error().message,
              testing::HasSubstr("did you mean 'main_dispatch_1_softmax'"));
}

}  // namespace
}  // namespace hone::tune
