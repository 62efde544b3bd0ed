// What an earlier hone called right, by other rules, is not known to be right.
#include "measure/verification.h"
#include "tests/cli/running_tune.h"

namespace hone::cli {
namespace {

using VerificationRules = RunningTune;

TEST_F(VerificationRules, WhatOthersJudgedIsVerifiedAgainAndNotCompiled) {
  const std::vector<std::string> tuning = arguments(1);
  ASSERT_LE(hone(tuning, environment()).exit_code, 1);
  const nlohmann::json before = rows().at(0);
  EXPECT_EQ(before["verification_rules"], measure::kVerificationRules);
  EXPECT_EQ(before["reference"], "exact");
  const auto candidate = before["candidate"].get<store::Id>();
  std::string compiled;
  {
    auto store = store::Store::open(folder() / "hone.db", store::Mode::kReadWrite);
    ASSERT_TRUE(store);
    const store::CandidateDetails details = *store->details(candidate);
    compiled = details.artifact->when;
    store::VerificationRow older = details.verifications.back();
    older.rules = measure::kVerificationRules - 1;
    ASSERT_TRUE(store->record(older));
  }
  ASSERT_LE(hone(tuning, environment()).exit_code, 1);
  EXPECT_EQ(rows().at(0)["verification_rules"], measure::kVerificationRules);
  auto store = store::Store::open(folder() / "hone.db", store::Mode::kReadOnly);
  ASSERT_TRUE(store);
  EXPECT_EQ(store->details(candidate)->artifact->when, compiled);
}

}  // namespace
}  // namespace hone::cli
