// Two tuners on one store, on fakes: what one is at the other puts aside, and what one leaves
// behind the other takes over. tests/cli/shared_store_test.cc has the same with compilers, runners
// and kernels.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <future>

#include "base/fd.h"
#include "tests/tune_fake/fake_session.h"

namespace hone::tune {
namespace {

using testing::Each;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

// Of the fake space; the compiler's own choice is one of them and has its code.
constexpr std::size_t kTiles = 7;

// A tuner with everything of its own but the file of the store.
struct Tuner {
  explicit Tuner(store::Store own_store, int dispatches)
      : store(std::move(own_store)), pool(dispatches) {}

  Result<TuningResult> run(const Options& options, const std::filesystem::path& out) {
    Options own = options;
    own.out = out;
    auto runner = std::make_unique<test::FakeRunner>(log);
    runner->before_job = before_job;
    return run_session(own, store, provider, {pool, std::move(runner), observer, lease_time});
  }

  store::Store store;
  test::FakePool pool;
  test::FakeProvider provider;
  test::FakeRunner::Log log;
  SilentObserver observer;
  std::function<void(const std::string&)> before_job;
  std::chrono::milliseconds lease_time = trial::kLeaseTime;
};

class TwoTuners : public FakeSession {
 protected:
  void SetUp() override {
    FakeSession::SetUp();
    options_.prove = false;
    for (const char* name : {"first", "second"})
      std::filesystem::create_directories(folder_.path() / name);
  }
  std::filesystem::path out(const char* name) const { return folder_.path() / name; }

  static void expect_best_of_each(const Result<TuningResult>& result, std::size_t dispatches) {
    ASSERT_TRUE(result) << result.error().message;
    ASSERT_THAT(result->at_sizes.front().tuned, SizeIs(dispatches));
    for (const TunedDispatch& tuned : result->at_sizes.front().tuned) {
      ASSERT_TRUE(tuned.payload) << tuned.selection.reason;
      EXPECT_EQ(tuned.payload->json, "tile=8");
    }
  }

  // Every code has one measurement of the search, whoever made it. What is taken over is verified
  // again by who measures it.
  void expect_everything_measured_once(std::size_t dispatches) {
    store::Store store = open_store();
    std::map<std::string, std::size_t> measured;  // by identity
    const std::vector<store::CandidateView> rows = store.candidate_rows().value();
    for (const store::CandidateView& row : rows) {
      const store::CandidateDetails details = store.details(row.candidate).value();
      EXPECT_EQ(row.failure_kind, "") << row.configuration;
      measured[row.identity] = static_cast<std::size_t>(std::ranges::count(
          details.measurements, store::Phase::kSearch, &store::Measurement::phase));
    }
    EXPECT_THAT(measured, SizeIs(kTiles * dispatches));
    EXPECT_THAT(measured, Each(Pair(testing::_, 1)));
    EXPECT_THAT(store.leases().value(), IsEmpty());
  }

  // Of those that compiled before.
  static std::size_t artifacts_in(store::Store& store) {
    const std::vector<store::CandidateView> rows = store.candidate_rows().value();
    return static_cast<std::size_t>(
        std::ranges::count_if(rows, [](const auto& row) { return !row.identity.empty(); }));
  }
};

// Stands until it is opened; a test whose other side never comes goes on, and fails.
class Gate {
 public:
  void open() {
    if (!is_open_.exchange(true)) opened_.set_value();
  }
  void pass() { future_.wait_for(std::chrono::seconds(20)); }

 private:
  std::atomic<bool> is_open_{false};
  std::promise<void> opened_;
  std::shared_future<void> future_ = opened_.get_future().share();
};

// The first stands in the measurement of its first round until the second verifies something, which
// can only be what the first is not at.
TEST_F(TwoTuners, DoEachCandidateOnceAndBothKnowAll) {
  constexpr std::size_t kDispatches = 2;
  Tuner first(open_store(), kDispatches), second(open_store(), kDispatches);
  Gate first_is_measuring, second_is_at_work;
  first.before_job = [&, measurements = std::size_t{0}](const std::string& kind) mutable {
    // Those before weigh the dispatches, and are of the default of the first.
    if (kind != "measure" || ++measurements != kDispatches + 2) return;
    first_is_measuring.open();
    second_is_at_work.pass();
  };
  second.before_job = [&](const std::string& kind) {  // what it only weighs it does not verify
    if (kind == "verify") second_is_at_work.open();
  };
  std::future<Result<TuningResult>> ahead = std::async(std::launch::async, [&] {
    auto result = first.run(options_, out("first"));
    first_is_measuring.open();
    return result;
  });
  first_is_measuring.pass();
  const auto of_second = second.run(options_, out("second"));
  second_is_at_work.open();  // also where it came to nothing
  const auto of_first = ahead.get();
  expect_best_of_each(of_first, kDispatches);
  expect_best_of_each(of_second, kDispatches);
  expect_everything_measured_once(kDispatches);
  // Both worked: the first at the default and the four candidates of its first round at least, the
  // second at the other three of the first dispatch. Nothing was verified by both.
  EXPECT_GE(first.log.verified.size(), 4u);
  EXPECT_GE(second.log.verified.size(), 2u);
  EXPECT_EQ(first.log.verified.size() + second.log.verified.size(), kTiles * kDispatches);
  // The default of each dispatch is compiled once too, though its code is that of a tile.
  EXPECT_EQ(first.pool.compiled + second.pool.compiled,
            static_cast<int>((kTiles + 1) * kDispatches));
}

// A process is killed at its work, wherever that is: another tuner sees that it is gone, does what
// it was at, and nothing that it had finished.
class KilledTuner : public TwoTuners, public testing::WithParamInterface<std::string> {};
INSTANTIATE_TEST_SUITE_P(At, KilledTuner, testing::Values("load", "verify", "measure", "repeat"),
                         [](const auto& job) { return job.param; });

TEST_P(KilledTuner, GivesItsWorkToAnother) {
  FdPair pipe = std::move(make_pipe().value());
  const pid_t killed = ::fork();
  ASSERT_GE(killed, 0);
  if (killed == 0) {
    Tuner tuner(open_store(), 1);
    tuner.before_job = [&, jobs = 0](const std::string& kind) mutable {
      if (kind != GetParam() || ++jobs != 2) return;  // the first is of the default
      if (::write(pipe.second.get(), "x", 1) == 1)
        for (;;) ::pause();
    };
    (void)tuner.run(options_, out("first"));
    ::_exit(1);
  }
  pipe.second.reset();
  char byte = 0;
  EXPECT_EQ(::read(pipe.first.get(), &byte, 1), 1) << "it never came to this job";
  ::kill(killed, SIGKILL);
  ::waitpid(killed, nullptr, 0);

  Tuner heir(open_store(), 1);
  const std::size_t compiled = artifacts_in(heir.store);
  // Finalists are nobody's: each tuner runs its own.
  EXPECT_EQ(heir.store.leases()->empty(), GetParam() == "repeat");
  expect_best_of_each(heir.run(options_, out("second")), 1);
  EXPECT_EQ(static_cast<std::size_t>(heir.pool.compiled), kTiles + 1 - compiled);
  expect_everything_measured_once(1);
}

// The lease of a tuner that is silent for too long (it was stopped, or runs on another machine)
// expires, and another takes over; when it comes back it finds that the work is no longer its own.
TEST_F(TwoTuners, ATunerThatWasSilentForTooLongKeepsNothingOfWhatAnotherDidMeanwhile) {
  Tuner silent(open_store(), 1), other(open_store(), 1);
  Gate is_measuring, may_go_on;
  silent.before_job = [&, measurements = 0](const std::string& kind) mutable {
    if (kind != "measure" || ++measurements != 2) return;
    is_measuring.open();
    may_go_on.pass();
  };
  std::future<Result<TuningResult>> waking = std::async(std::launch::async, [&] {
    auto result = silent.run(options_, out("first"));
    is_measuring.open();
    return result;
  });
  is_measuring.pass();
  // As if no heartbeat had come for the time of a lease: what of its expiry is seen by others.
  const std::vector<store::Lease> leases = other.store.leases().value();
  EXPECT_THAT(leases, testing::Not(IsEmpty()));
  for (const store::Lease& lease : leases) {
    EXPECT_TRUE(other.store.release(lease.key, lease.owner));
    EXPECT_TRUE(other.store.try_lease(lease.key, "a tuner that no longer beats",
                                      std::chrono::milliseconds(1)));
  }
  expect_best_of_each(other.run(options_, out("second")), 1);
  may_go_on.open();
  expect_best_of_each(waking.get(), 1);
  expect_everything_measured_once(1);
}

}  // namespace
}  // namespace hone::tune
