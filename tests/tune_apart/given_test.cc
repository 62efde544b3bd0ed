// Candidates that are given by hand are verified and measured, and nothing else is tried.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "space/configuration.h"
#include "tests/tune_apart/apart_session.h"
#include "tune/dispatch/dispatch_list.h"

namespace hone::tune {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class ApartGiven : public ApartSession {
 protected:
  // Of the product of examples/matmul_512.mlir, one for each seed.
  Result<std::vector<CheckedCandidate>> check(const std::vector<std::uint64_t>& seeds) {
    return in_context([&](Context& context) -> Result<std::vector<CheckedCandidate>> {
      HONE_ASSIGN(const std::string bytes, read_file(options_.input));
      HONE_ASSIGN(const problem::Program program,
                  context.compiler.load_program({options_.input, bytes, options_.flags}));
      const problem::Dispatch& dispatch = program.dispatches.at(0);
      HONE_ASSIGN(const space::Space space, context.provider.space_of(dispatch));
      list_ = {"results.yaml", "given", {}};
      for (const std::uint64_t seed : seeds) {
        HONE_ASSIGN(const auto drawn, space.samples(1, seed));
        HONE_ASSIGN(const provider::Payload payload,
                    context.provider.payload_of(dispatch, space, drawn.front()));
        list_.candidates.push_back(
            {dispatch, space::to_json(space, drawn.front()).dump(), payload});
      }
      return check_candidates(context, store::Run{}, list_);
    });
  }

  GivenList list_;
};

TEST_F(ApartGiven, RightOnesHaveATimeAndATolerance) {
  const auto checked = check({1, 2});
  ASSERT_TRUE(checked) << checked.error().message;
  ASSERT_EQ(checked->size(), 2u);
  for (const CheckedCandidate& each : *checked) {
    EXPECT_THAT(each.failure, IsEmpty());
    ASSERT_TRUE(each.verification);
    EXPECT_THAT(each.verification->tolerance, HasSubstr("absolute 0, relative 0: exact"));
    EXPECT_EQ(each.verification->absolute_tolerance, 0);
    EXPECT_EQ(each.verification->relative_tolerance, 0);
    EXPECT_GT(each.seconds.value_or(0), 0);
    EXPECT_GT(each.speedup.value_or(0), 0);
  }
  // The default beside which they are measured, and no other.
  EXPECT_EQ(store_.candidate_rows().value().size(), 3u);
  EXPECT_EQ(store_.runs().value().at(0).state, store::RunState::kFinished);
  EXPECT_THAT(store_.selections().value(), IsEmpty());
}

TEST_F(ApartGiven, WhatIsWrongOrDoesNotRunSaysSo) {
  faults_ = (folder_.path() / "faults").string();
  const auto checked = check({1, 2, 3});
  ASSERT_TRUE(checked) << checked.error().message;
  ASSERT_EQ(checked->size(), 3u);
  EXPECT_THAT(checked->at(0).failure, HasSubstr("load error: the driver cannot load the code"));
  EXPECT_THAT(checked->at(1).failure, IsEmpty());
  EXPECT_THAT(checked->at(2).failure, HasSubstr("wrong: "));
  EXPECT_FALSE(checked->at(2).seconds);
}

}  // namespace
}  // namespace hone::tune
