// A whole session as on GPUs: compiling runs ahead, candidates are shared out over devices whose
// memory is their own, and what a candidate does to one costs that candidate alone.
#include <gmock/gmock.h>

#include <atomic>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "tests/tune_apart/apart_session.h"

namespace hone::tune {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

TEST_F(ApartSession, SharesCandidatesOutOverDevices) {
  options_.places.push_back(test::gpu_place(1, "apart"));
  options_.candidates = 24;
  options_.budget_seconds = 16;
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->tuned.size(), 1u);
  std::set<int> gpus;
  std::size_t measured = 0;
  const std::vector<store::CandidateView> candidates = store_.candidate_rows().value();
  for (const store::CandidateView& candidate : candidates) {
    const auto details = store_.details(candidate.candidate);
    ASSERT_TRUE(details) << details.error().message;
    for (const store::Measurement& measurement : details->measurements) {
      if (measurement.phase != store::Phase::kSearch) continue;
      ++measured;
      const auto machine = nlohmann::json::parse(measurement.machine);
      for (const auto& gpu : machine.at("before").at("gpus")) gpus.insert(gpu.at("gpu").get<int>());
    }
  }
  EXPECT_GE(measured, 20u);
  EXPECT_THAT(gpus, UnorderedElementsAre(0, 1));
}

TEST_F(ApartSession, WhatCandidatesDoToADeviceIsARowAndNoMore) {
  faults_ = (folder_.path() / "faults").string();
  options_.input = long_product_;
  kernel_seconds_ = 4;
  options_.candidates = 20;
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_EQ(result->tuned.size(), 1u);
  std::map<std::string, std::string> words;  // by kind
  const std::vector<store::CandidateView> candidates = store_.candidate_rows().value();
  for (const store::CandidateView& candidate : candidates) {
    const auto details = store_.details(candidate.candidate);
    ASSERT_TRUE(details) << details.error().message;
    for (const store::FailureRow& failure : details->failures)
      words[failure.kind] += failure.message + "\n";
    for (const store::VerificationRow& verification : details->verifications)
      if (!verification.right) {
        words["wrong"] += verification.basis + "\n";
        EXPECT_NE(candidate.candidate, result->tuned[0].selection.winner);
      }
  }
  const store::DispatchView dispatch = row();
  // One at once, and one that was the fastest until a launch was compared that the race spoiled.
  EXPECT_EQ(dispatch.wrong, 2);
  EXPECT_THAT(words["wrong"], HasSubstr("more launches"));
  EXPECT_THAT(words["impossible time"], HasSubstr("above the device's arithmetic peak"));
  EXPECT_THAT(words["load error"], HasSubstr("out of memory"));
  EXPECT_THAT(words["kernel timeout"], HasSubstr("no answer after 4 s"));
  EXPECT_THAT(words["kernel crash"], HasSubstr("an illegal memory access was encountered"));
  EXPECT_THAT(words["kernel killed"], HasSubstr("SIGKILL"));
}

// The runner is killed from outside while it verifies what will win: in the first verification,
// among the launches that are compared after the race, and among those of the form that ships.
class StruckSession : public ApartSession {
 protected:
  void SetUp() override {
    ApartSession::SetUp();
    faults_ = (folder_.path() / "faults").string();
    options_.candidates = 3;
    options_.budget_seconds = 3;
    killer_ = std::thread([this] { kill_who_waits(); });
  }
  void TearDown() override {
    done_ = true;
    killer_.join();
  }
  int struck() const {
    const auto lines = read_file(struck_file());
    return lines ? static_cast<int>(std::count(lines->begin(), lines->end(), '\n')) : 0;
  }
  // Then, after which it wins all the same.
  void strike(int at) {
    struck_at_ = at;
    const auto result = run();
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(struck(), 1);
    EXPECT_THAT(failures(), IsEmpty());
    EXPECT_GT(result->tuned.at(0).selection.winner, 0) << observer_.notes;
  }
  std::vector<std::string> failures() {
    std::vector<std::string> kinds;
    const std::vector<store::CandidateView> rows = store_.candidate_rows().value();
    for (const store::CandidateView& row : rows)
      if (!row.failure_kind.empty()) kinds.push_back(row.failure_kind);
    return kinds;
  }

 private:
  void kill_who_waits() {
    int killed = 0;
    while (!done_) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      std::ifstream file(struck_file());
      std::vector<pid_t> waiting;
      for (pid_t pid = 0; file >> pid;) waiting.push_back(pid);
      for (; killed < static_cast<int>(waiting.size()); ++killed)
        if (const pid_t pid = waiting[static_cast<std::size_t>(killed)]; pid > 1)
          ::kill(pid, SIGKILL);
    }
  }
  std::atomic<bool> done_ = false;
  std::thread killer_;
};

TEST_F(StruckSession, AKillAmongTheLaunchesComparedAfterTheRaceIsNotItsLastWord) {
  strike(1);
}

TEST_F(StruckSession, AKillAmongTheLaunchesOfWhatShipsIsNotItsLastWord) {
  strike(2);
}

TEST_F(StruckSession, WhatWasKilledTwiceIsTriedAgainByTheNextRun) {
  struck_at_ = 0;
  strikes_ = 2;
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(struck(), 2);
  EXPECT_THAT(failures(), ElementsAre("kernel killed"));
  const auto again = run();
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_THAT(failures(), IsEmpty());
  EXPECT_GT(again->tuned.at(0).selection.winner, 0);
}

TEST_F(ApartSession, ASecondRunOnTheStoreMeasuresNothingAgain) {
  options_.candidates = 6;
  options_.budget_seconds = 8;
  ASSERT_TRUE(run());
  const auto first = store_.candidate_rows().value().size();
  options_.places.push_back(test::gpu_place(1, "apart"));
  const auto again = run();
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(store_.candidate_rows().value().size(), first);
}

}  // namespace
}  // namespace hone::tune
