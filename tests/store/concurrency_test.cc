// Several threads and processes on one file, and processes that are killed while they write.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <map>
#include <random>
#include <thread>

#include "store/host.h"
#include "tests/store/fixture.h"

namespace hone::store {
namespace {

using std::chrono::seconds;

constexpr int kTasks = 60;

int failed(const Error& error) {
  ADD_FAILURE() << error.message;
  return -1;
}

// Goes through the same tasks as every other worker and does those that nobody has done: as a
// session does, lease first, then look, then record. Returns how many it did, or -1 on an error.
int work_off(const std::filesystem::path& path, const std::string& owner) {
  Result<Store> store = Store::open(path, Mode::kReadWrite);
  if (!store) return failed(store.error());
  const Place place(*store);
  int done = 0;
  for (int task = 0; task < kTasks; ++task) {
    const Id candidate = place.add(*store, fmt::format("[{}]", task));
    const std::string key = fmt::format("compile/{}", candidate);
    const Result<bool> leased = store->try_lease(key, owner, seconds(60));
    if (!leased) return failed(leased.error());
    if (!*leased) continue;
    const Result<KnownResults> known = store->known(candidate, place.device);
    if (!known) return failed(known.error());
    if (!known->artifact) {
      place.compile(*store, fmt::format("[{}]", task), fmt::format("e{}", task));
      place.measure(*store, fmt::format("e{}", task), 0.001, Phase::kSearch);
      ++done;
    }
    if (const Status released = store->release(key, owner); !released)
      return failed(released.error());
  }
  return done;
}

class ConcurrencyTest : public StoreTest {
 protected:
  // Each task was done by one worker, and all of it is there.
  void expect_each_task_done_once() {
    Store store = open();
    const auto rows = *store.candidate_rows();
    EXPECT_EQ(rows.size(), static_cast<std::size_t>(kTasks));
    for (const CandidateView& row : rows) {
      EXPECT_EQ(store.details(row.candidate)->measurements.size(), 1u) << row.configuration;
      EXPECT_EQ(row.state, CandidateState::kMeasured);
    }
    EXPECT_EQ(store.dispatch_rows()->size(), 1u) << "one dispatch, one build, one device";
    EXPECT_TRUE(store.check()->ok());
    EXPECT_TRUE(store.leases()->empty());
  }
};

TEST_F(ConcurrencyTest, ThreadsShareTheWorkAndDoEachTaskOnce) {
  std::array<int, 4> done{};
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < done.size(); ++i)
    threads.emplace_back([&, i] { done[i] = work_off(path_, fmt::format("thread {}", i)); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(done[0] + done[1] + done[2] + done[3], kTasks);
  expect_each_task_done_once();
}

TEST_F(ConcurrencyTest, ProcessesShareTheWorkAndDoEachTaskOnce) {
  // Nothing is there yet: they also race to make the file.
  std::array<pid_t, 3> children{};
  for (pid_t& child : children) {
    child = ::fork();
    if (child == 0) ::_exit(work_off(path_, this_process()) >= 0 ? 0 : 1);
  }
  for (const pid_t child : children) {
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  expect_each_task_done_once();
}

// Records candidates with artifact and measurement for ever, and says the number of each once its
// functions have returned.
void record_and_acknowledge(const std::filesystem::path& path, int first, int out) {
  Result<Store> store = Store::open(path, Mode::kReadWrite);
  if (!store) ::_exit(1);
  const Place place(*store);
  if (!store->begin_run({.command = "hone tune", .version = "0.1.0"})) ::_exit(1);
  for (int number = first;; ++number) {
    const std::string identity = fmt::format("e{}", number);
    place.compile(*store, fmt::format("[{}]", number), identity);
    place.measure(*store, identity, 0.001 * number, Phase::kSearch);
    if (::write(out, &number, sizeof number) != sizeof number) ::_exit(1);
  }
}

TEST_F(ConcurrencyTest, AKilledWriterLosesNothingThatItAcknowledged) {
  constexpr int kKills = 20;
  std::mt19937 random(20260131);
  std::vector<int> acknowledged;
  for (int kill = 0; kill < kKills; ++kill) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      ::close(ends[0]);
      record_and_acknowledge(path_, kill * 1'000'000 + 1, ends[1]);
    }
    ::close(ends[1]);
    // Every other one dies wherever it is by then, also while it opens the file; the rest while
    // they write, after some rows, however slow the machine is.
    int number = 0;
    for (int wanted = kill % 2 * std::uniform_int_distribution(1, 10)(random); wanted > 0;
         --wanted) {
      ASSERT_EQ(::read(ends[0], &number, sizeof number), static_cast<ssize_t>(sizeof number));
      acknowledged.push_back(number);
    }
    ::usleep(std::uniform_int_distribution<useconds_t>(0, kill % 2 == 0 ? 60'000 : 3'000)(random));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child ended by itself";
    while (::read(ends[0], &number, sizeof number) == sizeof number) acknowledged.push_back(number);
    ::close(ends[0]);
  }
  EXPECT_GE(acknowledged.size(), 10u);

  Store store = open();
  const CheckReport report = *store.check();
  EXPECT_TRUE(report.ok()) << report.damage.front();
  const Place place(store);
  for (const int number : acknowledged) {
    const auto candidate =
        *store.find_candidate(place.dispatch, place.build, "iree", fmt::format("[{}]", number));
    ASSERT_TRUE(candidate) << number;
    const KnownResults known = *store.known(*candidate, place.device);
    ASSERT_TRUE(known.artifact && known.measurement) << number;
    EXPECT_EQ(known.measurement->timing.median, 0.001 * number);
    EXPECT_EQ(store.load_artifact(*candidate)->code, fmt::format("code of e{}", number));
  }
  ASSERT_TRUE(store.begin_run({.command = "hone tune", .version = "0.1.0"}));
  const std::vector<store::Run> runs = *store.runs();
  for (std::size_t i = 0; i + 1 < runs.size(); ++i)
    EXPECT_EQ(runs[i].state, RunState::kInterrupted);
}

}  // namespace
}  // namespace hone::store
