#include "worker/compile_pool.h"

#include <unistd.h>

#include <chrono>
#include <thread>

#include "base/fd.h"
#include "base/stopwatch.h"
#include "tests/worker/compile_pool_fixture.h"

namespace hone::worker {
namespace {

using testing::StartsWith;

TEST_F(CompilePoolTest, OnceRunsInAProcessAndAFolderOfItsOwn) {
  CompilePool& pool = start();
  const Outcome first = once(pool, {"echo", {{"m", 512}}, {std::string("\0blob", 5)}});
  const Outcome second = once(pool, {"echo", 2, {}});
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->kind, "echo");
  EXPECT_EQ(first->body["body"], nlohmann::json({{"m", 512}}));
  EXPECT_EQ(first->blobs, std::vector<std::string>{std::string("\0blob", 5)});
  EXPECT_THAT(first->body["tmpdir"].get<std::string>(), StartsWith(folder().string()));
  EXPECT_NE(first->body["tmpdir"], second->body["tmpdir"]);
  EXPECT_FALSE(std::filesystem::exists(first->body["tmpdir"].get<std::string>()));
}

TEST_F(CompilePoolTest, ACandidateSeesWhatItsDispatchPrepared) {
  CompilePool& pool = start();
  ASSERT_TRUE(pool.prepare("a", {"echo", "state of a", {}}));
  ASSERT_TRUE(pool.prepare("b", {"echo", "state of b", {}}));
  ASSERT_TRUE(pool.submit("a", 1, {"state", nullptr, {}}));
  ASSERT_TRUE(pool.submit("b", 2, {"state", nullptr, {}}));
  EXPECT_EQ(pool.outstanding(), 2u);
  const auto outcomes = finish_all(pool);
  EXPECT_EQ(outcomes.at(1)->body, "state of a");
  EXPECT_EQ(outcomes.at(2)->body, "state of b");
  EXPECT_EQ(pool.outstanding(), 0u);
}

TEST_F(CompilePoolTest, SeveralDispatchesArePreparedSideBySideAndAnsweredInOrder) {
  CompilePool& pool = start();
  const auto outcomes = pool.prepare_each({{"a", {"echo", "state of a", {}}},
                                           {"b", {"fail", "no such loop", {}}},
                                           {"c", {"echo", "state of c", {}}}});
  ASSERT_TRUE(outcomes);
  ASSERT_EQ(outcomes->size(), 3u);
  EXPECT_TRUE((*outcomes)[0]);
  EXPECT_FALSE((*outcomes)[1]);
  EXPECT_TRUE((*outcomes)[2]);
  ASSERT_TRUE(pool.submit("c", 3, {"state", nullptr, {}}));
  ASSERT_TRUE(pool.submit("a", 1, {"state", nullptr, {}}));
  EXPECT_FALSE(pool.submit("b", 2, {"state", nullptr, {}}));
  const auto states = finish_all(pool);
  EXPECT_EQ(states.at(1)->body, "state of a");
  EXPECT_EQ(states.at(3)->body, "state of c");
}

TEST_F(CompilePoolTest, AJobThatWasBegunGoesOnBesideOthers) {
  CompilePool& pool = start();
  const auto begun = pool.begin_once({"echo", "begun", {}});
  ASSERT_TRUE(begun);
  EXPECT_EQ(once(pool, {"echo", "another", {}})->body["body"], "another");
  const auto ended = pool.end_once(*begun);
  ASSERT_TRUE(ended && *ended);
  EXPECT_EQ((*ended)->body["body"], "begun");
}

// The socket takes a program of 16 MB in parts, and nothing else is asked of the pool.
TEST_F(CompilePoolTest, ALargeJobThatWasBegunRunsThoughNobodyWaits) {
  CompilePool& pool = start();
  const std::filesystem::path file = folder() / "written";
  const auto begun =
      pool.begin_once({"write", file.string(), {std::string(std::size_t{16} << 20, 'p')}});
  ASSERT_TRUE(begun);
  constexpr int kTries = 1000;
  for (int i = 0; i < kTries && !std::filesystem::exists(file); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_TRUE(std::filesystem::exists(file));
  EXPECT_TRUE(pool.end_once(*begun));
  std::filesystem::remove(file);
}

TEST_F(CompilePoolTest, APoolOfOneProcessBeginsNothing) {
  CompilePoolOptions one = options();
  one.jobs = 1;
  EXPECT_FALSE(start_prepared(one).begin_once({"echo", nullptr, {}}));
}

TEST_F(CompilePoolTest, PreparingAnewReplacesAndReleasingForgets) {
  CompilePool& pool = start();
  ASSERT_TRUE(pool.prepare("d", {"echo", 1, {}}));
  ASSERT_TRUE(pool.prepare("d", {"echo", 2, {}}));
  EXPECT_EQ(run(pool, {"state", nullptr, {}})->body, 2);
  ASSERT_TRUE(pool.submit("d", 8, {"hang", nullptr, {}}));
  ASSERT_TRUE(pool.release("d"));
  EXPECT_EQ(pool.outstanding(), 0u);
  const Status submitted = pool.submit("d", 9, {"echo", 1, {}});
  ASSERT_FALSE(submitted);
  EXPECT_EQ(submitted.error().message, "no dispatch was prepared under the name 'd'");
}

TEST_F(CompilePoolTest, TwoJobsAreInFlightAndNoMore) {
  CompilePool& pool = start_prepared(options());
  // One hangs; the others get past it through the second place, one after the other.
  ASSERT_TRUE(pool.submit("d", 1, {"hang", nullptr, {}}));
  for (JobId id = 2; id <= 5; ++id) ASSERT_TRUE(pool.submit("d", id, {"pid", nullptr, {}}));
  for (JobId id = 2; id <= 5; ++id) {
    const auto finished = pool.next_finished();
    ASSERT_TRUE(finished && *finished);
    EXPECT_EQ((*finished)->id, id);
  }
  ASSERT_TRUE(pool.submit("d", 6, {"hang", nullptr, {}}));
  ASSERT_TRUE(pool.submit("d", 7, {"echo", nullptr, {}}));
  const auto none = pool.next_finished(0.2);
  ASSERT_TRUE(none);
  EXPECT_FALSE(*none);
  EXPECT_EQ(pool.outstanding(), 3u);
  ASSERT_TRUE(pool.prepare("e", {"echo", nullptr, {}}));
  ASSERT_TRUE(pool.submit("e", 8, {"echo", "another", {}}));
  ASSERT_TRUE(pool.cancel("d"));
  EXPECT_EQ(pool.outstanding(), 1u);
  EXPECT_EQ(finish_all(pool).at(8)->body["body"], "another");
  ASSERT_TRUE(pool.submit("d", 7, {"echo", "after", {}}));  // the id may come again
  const auto outcomes = finish_all(pool);
  ASSERT_EQ(outcomes.size(), 1u);
  EXPECT_EQ(outcomes.at(7)->body["body"], "after");
}

// With one place the second job begins after the first has ended, and both have when the tuner
// looks.
TEST_F(CompilePoolTest, KnowsWhenJobsEndedHoweverLateItLooks) {
  CompilePoolOptions one = options();
  one.jobs = 1;
  CompilePool& pool = start_prepared(one);
  for (const JobId id : {1, 2}) ASSERT_TRUE(pool.submit("d", id, {"echo", nullptr, {}}));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const auto first = pool.next_finished(), second = pool.next_finished();
  ASSERT_TRUE(first && *first && second && *second);
  EXPECT_LE((*first)->ended, (*second)->ended - (*second)->seconds);
  EXPECT_LE((*second)->ended, monotonic_seconds());
}

TEST_F(CompilePoolTest, ALargeAnswerComesThrough) {
  CompilePool& pool = start_prepared(options());
  const Outcome outcome = run(pool, {"large", 32 << 20, {}});
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->blobs.at(0), std::string(std::size_t{32} << 20, 'b'));
}

TEST_F(CompilePoolTest, IsInterruptedByItsStopDescriptor) {
  auto stop = make_pipe();
  ASSERT_TRUE(stop);
  CompilePoolOptions stoppable = options();
  stoppable.stop_fd = stop->first.get();
  CompilePool& pool = start_prepared(stoppable);
  ASSERT_TRUE(pool.submit("d", 1, {"hang", nullptr, {}}));
  std::thread press([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_EQ(::write(stop->second.get(), "x", 1), 1);
  });
  const auto finished = pool.next_finished();
  press.join();
  ASSERT_FALSE(finished);
  EXPECT_EQ(finished.error().kind, ErrorKind::kInterrupted);
  EXPECT_EQ(pool.once({"echo", nullptr, {}}).error().kind, ErrorKind::kInterrupted);
}

}  // namespace
}  // namespace hone::worker
