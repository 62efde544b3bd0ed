#include "worker/persistent_pool.h"

#include <unistd.h>

#include <map>

#include "tests/worker/worker_test.h"

namespace hone::worker {
namespace {

using provider::FailureKind;
using testing::HasSubstr;
using testing::Key;
using testing::StartsWith;
using testing::UnorderedElementsAre;

class PersistentPoolTest : public WorkerTest {
 protected:
  std::unique_ptr<PersistentPool> pool(int workers, JobLimits limits = {},
                                       std::function<std::string(const Message&)> same_work = {}) {
    PersistentPoolOptions options;
    options.same_work = std::move(same_work);
    options.command = serving_command(kServeRunner);
    options.temporary = folder();
    options.workers = workers;
    options.limits = limits;
    auto pool = PersistentPool::start(options);
    EXPECT_TRUE(pool) << pool.error().message;
    return std::move(*pool);
  }

  static std::map<JobId, Outcome> all_of(PersistentPool& pool) {
    std::map<JobId, Outcome> outcomes;
    while (true) {
      auto done = pool.next_finished();
      EXPECT_TRUE(done) << done.error().message;
      if (!done || !*done) return outcomes;
      outcomes.emplace((*done)->id, std::move((*done)->outcome));
    }
  }
};

TEST_F(PersistentPoolTest, TwoProcessesAnswerAllJobs) {
  const auto two = pool(2);
  ASSERT_TRUE(two->prepare("a", {"echo", "prepared", {}}));
  for (JobId id = 0; id < 20; ++id) ASSERT_TRUE(two->submit("a", id, {"pid", nullptr, {}}));
  EXPECT_EQ(two->outstanding(), 20u);
  const auto outcomes = all_of(*two);
  EXPECT_EQ(outcomes.size(), 20u);
  std::map<int, int> by_process;
  for (const auto& [id, outcome] : outcomes) {
    ASSERT_TRUE(outcome);
    ++by_process[outcome->body["pid"].get<int>()];
  }
  EXPECT_LE(by_process.size(), 2u);
  EXPECT_EQ(two->outstanding(), 0u);
  EXPECT_EQ(two->restarts(), 0);
}

// A caller with other work looks in between, for no time.
TEST_F(PersistentPoolTest, LooksThatDoNotWaitSeeTheAnswer) {
  const auto one = pool(1);
  ASSERT_TRUE(one->prepare("a", {"echo", nullptr, {}}));
  ASSERT_TRUE(one->submit("a", 1, {"echo", nullptr, {}}));
  std::optional<Finished> done;
  for (int looks = 0; !done && looks < 100'000; ++looks) {
    auto next = one->next_finished(0);
    ASSERT_TRUE(next) << next.error().message;
    done = std::move(*next);
    ::usleep(100);
  }
  ASSERT_TRUE(done);
  EXPECT_EQ(done->id, 1);
}

TEST_F(PersistentPoolTest, WhatIsNotPreparedIsRefused) {
  const auto one = pool(1);
  EXPECT_EQ(one->submit("b", 1, {"echo", nullptr, {}}).error().message,
            "nothing is prepared as 'b'");
  const auto refused = one->prepare("b", {"fail", nullptr, {}});
  ASSERT_TRUE(refused);
  EXPECT_FALSE(*refused);
  EXPECT_FALSE(one->submit("b", 1, {"echo", nullptr, {}}));
}

TEST_F(PersistentPoolTest, ACrashCostsOneJob) {
  const auto one = pool(1);
  ASSERT_TRUE(one->prepare("a", {"echo", nullptr, {}}));
  ASSERT_TRUE(one->submit("a", 1, {"segv", nullptr, {}}));
  ASSERT_TRUE(one->submit("a", 2, {"echo", "after", {}}));
  const auto outcomes = all_of(*one);
  ASSERT_FALSE(outcomes.at(1));
  EXPECT_EQ(outcomes.at(1).error().kind, FailureKind::kCompileCrash);
  EXPECT_EQ(outcomes.at(1).error().message, "SIGSEGV\nabout to die of 11");
  EXPECT_TRUE(outcomes.at(2));
  EXPECT_EQ(one->restarts(), 1);
}

TEST_F(PersistentPoolTest, AHangIsATimeoutAndTheOthersGoOn) {
  JobLimits limits;
  limits.seconds = 0.5;
  const auto two = pool(2, limits);
  ASSERT_TRUE(two->prepare("a", {"echo", nullptr, {}}));
  ASSERT_TRUE(two->submit("a", 1, {"hang", nullptr, {}}));
  for (JobId id = 2; id < 6; ++id) ASSERT_TRUE(two->submit("a", id, {"echo", nullptr, {}}));
  const auto outcomes = all_of(*two);
  EXPECT_EQ(outcomes.at(1).error().kind, FailureKind::kCompileTimeout);
  EXPECT_EQ(outcomes.at(1).error().message, "no answer after 1 s");  // of the second try
  for (JobId id = 2; id < 6; ++id) EXPECT_TRUE(outcomes.at(id));
}

TEST_F(PersistentPoolTest, WhatIsKilledOrTooSlowIsTriedOnceMore) {
  JobLimits limits;
  limits.seconds = 0.5;
  const auto one = pool(1, limits, [](const Message& job) { return job.kind; });
  ASSERT_TRUE(one->prepare("a", {"echo", nullptr, {}}));
  const std::string marks[] = {folder() / "killed", folder() / "slow"};
  ASSERT_TRUE(one->submit("a", 1, {"kill-once", marks[0], {}}));
  ASSERT_TRUE(one->submit("a", 2, {"hang-once", marks[1], {}}));
  ASSERT_TRUE(one->submit("a", 3, {"kill", nullptr, {}}));
  const auto outcomes = all_of(*one);
  ASSERT_EQ(outcomes.size(), 3u);
  EXPECT_TRUE(outcomes.at(1));
  EXPECT_TRUE(outcomes.at(2));
  ASSERT_FALSE(outcomes.at(3));
  EXPECT_EQ(outcomes.at(3).error().kind, FailureKind::kCompileKilled);
  for (const std::string& mark : marks) EXPECT_TRUE(std::filesystem::remove(mark));
}

TEST_F(PersistentPoolTest, WhatPassesALimitIsTriedTwiceForAllThatShareIt) {
  JobLimits limits;
  limits.seconds = 0.5;
  const auto two = pool(2, limits, [](const Message& job) { return job.kind; });
  ASSERT_TRUE(two->prepare("a", {"echo", nullptr, {}}));
  for (JobId id = 1; id < 4; ++id) ASSERT_TRUE(two->submit("a", id, {"hang", nullptr, {}}));
  ASSERT_TRUE(two->submit("a", 4, {"echo", nullptr, {}}));
  auto outcomes = all_of(*two);
  ASSERT_TRUE(two->submit("a", 5, {"hang", nullptr, {}}));  // as late as can be
  outcomes.merge(all_of(*two));
  ASSERT_EQ(outcomes.size(), 5u);
  for (const JobId id : {1u, 2u, 3u, 5u}) {
    EXPECT_EQ(outcomes.at(id).error().kind, FailureKind::kCompileTimeout);
    EXPECT_THAT(outcomes.at(id).error().message, StartsWith("no answer after 1 s"));
  }
  EXPECT_TRUE(outcomes.at(4));
  EXPECT_LE(two->restarts(), 2);
}

TEST_F(PersistentPoolTest, WhatIsRefusedIsAskedForAgain) {
  const auto one = pool(1, {}, [](const Message& job) { return job.kind; });
  ASSERT_TRUE(one->prepare("a", {"echo", nullptr, {}}));
  for (JobId id = 1; id < 3; ++id) ASSERT_TRUE(one->submit("a", id, {"fail", nullptr, {}}));
  const auto outcomes = all_of(*one);
  EXPECT_EQ(outcomes.at(1).error().message, outcomes.at(2).error().message);
}

TEST_F(PersistentPoolTest, EatingMemoryIsCaughtAlsoBelow) {
  JobLimits limits;
  limits.memory_bytes = std::uint64_t{1} << 29;
  const auto two = pool(2, limits);
  ASSERT_TRUE(two->prepare("a", {"echo", nullptr, {}}));
  ASSERT_TRUE(two->submit("a", 1, {"eat", nullptr, {}}));
  ASSERT_TRUE(two->submit("a", 2, {"eat-below", nullptr, {}}));
  const auto outcomes = all_of(*two);
  for (JobId id = 1; id < 3; ++id) {
    EXPECT_EQ(outcomes.at(id).error().kind, FailureKind::kCompileMemory);
    EXPECT_THAT(outcomes.at(id).error().message, StartsWith("more than 0.50 GiB of memory"));
  }
}

TEST_F(PersistentPoolTest, NonsenseIsACrash) {
  const auto one = pool(1);
  ASSERT_TRUE(one->prepare("a", {"echo", nullptr, {}}));
  ASSERT_TRUE(one->submit("a", 1, {"garbage", nullptr, {}}));
  EXPECT_THAT(all_of(*one).at(1).error().message, HasSubstr("its answer cannot be read"));
}

TEST_F(PersistentPoolTest, AFloodOfWordsDoesNotBlockTheAnswer) {
  const auto one = pool(1);
  ASSERT_TRUE(one->prepare("a", {"echo", nullptr, {}}));
  ASSERT_TRUE(one->submit("a", 1, {"flood", nullptr, {}}));
  EXPECT_TRUE(all_of(*one).at(1));
}

TEST_F(PersistentPoolTest, CancelledJobsAreNotReported) {
  const auto one = pool(1);
  ASSERT_TRUE(one->prepare("a", {"echo", nullptr, {}}));
  ASSERT_TRUE(one->submit("a", 1, {"sleep", 0.2, {}}));
  ASSERT_TRUE(one->submit("a", 2, {"echo", nullptr, {}}));
  ASSERT_TRUE(one->cancel("a"));
  EXPECT_EQ(one->outstanding(), 0u);
  ASSERT_TRUE(one->submit("a", 3, {"echo", nullptr, {}}));
  const auto outcomes = all_of(*one);
  EXPECT_EQ(outcomes.size(), 1u);
  EXPECT_TRUE(outcomes.at(3));
  EXPECT_EQ(one->restarts(), 0);
}

// All candidates of a key compile the same work here, of which one runs at a time.
TEST_F(PersistentPoolTest, TheJobsOfOneKeyAreCancelled) {
  const auto two = pool(2, {}, [](const Message&) { return "work"; });
  for (const char* const key : {"a", "b"}) {
    ASSERT_TRUE(two->prepare(key, {"echo", nullptr, {}}));
    const JobId first = key[0] == 'a' ? 1 : 3;
    ASSERT_TRUE(two->submit(key, first, {"sleep", 0.2, {}}));
    ASSERT_TRUE(two->submit(key, first + 1, {"echo", nullptr, {}}));
  }
  ASSERT_TRUE(two->cancel("a"));
  EXPECT_EQ(two->outstanding(), 2u);
  ASSERT_TRUE(two->submit("a", 5, {"echo", nullptr, {}}));
  const auto outcomes = all_of(*two);
  EXPECT_THAT(outcomes, UnorderedElementsAre(Key(3), Key(4), Key(5)));
  EXPECT_EQ(two->restarts(), 0);
}

TEST_F(PersistentPoolTest, PreparesWhileAllAreBusy) {
  const auto one = pool(1);
  ASSERT_TRUE(one->prepare("a", {"echo", nullptr, {}}));
  ASSERT_TRUE(one->submit("a", 1, {"sleep", 1, {}}));
  ASSERT_TRUE(one->prepare("b", {"echo", nullptr, {}}));
  ASSERT_TRUE(one->submit("b", 2, {"echo", nullptr, {}}));
  EXPECT_FALSE(one->next_finished(0).value());  // neither: the one that slept is not done yet
  EXPECT_THAT(all_of(*one), UnorderedElementsAre(Key(1), Key(2)));
}

TEST_F(PersistentPoolTest, HurriedJobsGoBeforeAllOthers) {
  const auto one = pool(1);
  ASSERT_TRUE(one->prepare("a", {"echo", nullptr, {}}));
  ASSERT_TRUE(one->submit("a", 1, {"sleep", 1, {}}));
  ASSERT_TRUE(one->submit("a", 2, {"echo", nullptr, {}}));
  ASSERT_TRUE(one->prepare("b", {"echo", nullptr, {}}));
  one->hurry("b");
  ASSERT_TRUE(one->submit("b", 3, {"echo", nullptr, {}}));
  ASSERT_TRUE(one->submit("b", 4, {"echo", nullptr, {}}));
  for (const JobId expected : {3, 4, 1, 2}) EXPECT_EQ((*one->next_finished())->id, expected);
}

TEST_F(PersistentPoolTest, OneThatDoesNotStartIsNamed) {
  PersistentPoolOptions options;
  options.command = {"/bin/false"};
  options.temporary = folder();
  const auto pool = PersistentPool::start(options);
  ASSERT_TRUE(pool);
  const auto answer = (*pool)->once({"echo", nullptr, {}});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::kEnvironment);
  EXPECT_THAT(answer.error().message, HasSubstr("'/bin/false' did not start: exit code 1"));
}

}  // namespace
}  // namespace hone::worker
