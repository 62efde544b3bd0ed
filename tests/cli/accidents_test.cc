// An accident is not a verdict: what a session gave up because of its surroundings is tried again.
#include "tests/cli/running_tune.h"

namespace hone::cli {
namespace {

class Accidents : public RunningTune {
 protected:
  // One candidate, of the known kind, so that it is the best there is; slow enough to be met.
  std::vector<std::string> one_candidate() const {
    std::vector<std::string> arguments = this->arguments(1);
    arguments.insert(arguments.end(),
                     {"--config",
                      "dist_m=32,dist_n=32,cache_m=0,cache_n=0,cache_k=0,vec_m=1,vec_n=16,red_k=1,"
                      "peel=0"});
    return arguments;
  }
  nlohmann::json best() const {
    const nlohmann::json all = rows();
    EXPECT_EQ(all.size(), 1u);
    return all.empty() ? nlohmann::json() : all[0];
  }
  // As a session that met it has left it, newer than all else of the candidate.
  void record_failure(const nlohmann::json& row, std::string_view kind) const {
    auto store = store::Store::open(folder() / "hone.db", store::Mode::kReadWrite);
    ASSERT_TRUE(store);
    store::FailureRow failure;
    failure.candidate = row["candidate"];
    failure.device = row["device"].get<store::Id>();
    failure.identity = row["identity"];
    failure.kind = kind;
    ASSERT_TRUE(store->record(failure));
  }
  nlohmann::json best_after(std::vector<std::string> arguments) const {
    const Ran ran = hone(arguments, environment());
    EXPECT_LE(ran.exit_code, 1) << ran.err;
    return best();
  }
};

// Whatever of it the runner is at, loading, verifying or measuring.
TEST_F(Accidents, ARunnerKilledUnderTheBestCandidateTriesItOnceMore) {
  start(one_candidate());
  ASSERT_TRUE(holds_soon([&] { return count("compiled") > 0 || has_ended(); }));
  // None is left to strike where the session was faster than this test looks.
  for (const pid_t pid : workers("run")) strike(pid, SIGKILL);
  EXPECT_LE(finish(), 1) << words();
  EXPECT_EQ(best()["state"], "measured") << best().dump(2);
}

TEST_F(Accidents, WhatWasKilledIsTriedAgainByTheNextRun) {
  const nlohmann::json first = best_after(one_candidate());
  ASSERT_EQ(first["state"], "measured") << first.dump(2);
  record_failure(first, "kernel killed");
  EXPECT_EQ(best()["state"], "failed");
  EXPECT_EQ(best_after(one_candidate())["state"], "measured");
}

TEST_F(Accidents, ALimitIsALastWordUnlessItIsToBeTriedAgain) {
  const nlohmann::json first = best_after(one_candidate());
  ASSERT_EQ(first["state"], "measured") << first.dump(2);
  record_failure(first, "kernel timeout");
  EXPECT_EQ(best_after(one_candidate())["failure_kind"], "kernel timeout");
  std::vector<std::string> retrying = one_candidate();
  retrying.push_back("--retry-failed");
  EXPECT_EQ(best_after(retrying)["state"], "measured");
  // A fault of the candidate's own is none of the machine's.
  record_failure(first, "kernel crash");
  EXPECT_EQ(best_after(retrying)["failure_kind"], "kernel crash");
}

}  // namespace
}  // namespace hone::cli
