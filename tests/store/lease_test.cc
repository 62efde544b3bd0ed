#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "store/host.h"
#include "store/sqlite.h"
#include "tests/store/fixture.h"

namespace hone::store {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

// The name of a process that has ended and been waited for.
std::string ended_process() {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string name = this_process();
    ::_exit(::write(ends[1], name.data(), name.size()) > 0 ? 0 : 1);
  }
  std::string name(1024, '\0');
  const ssize_t size = ::read(ends[0], name.data(), name.size());
  name.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  ::close(ends[0]);
  ::close(ends[1]);
  ::waitpid(child, nullptr, 0);
  return name;
}

std::string with_part(std::string name, int part, std::string_view text) {
  std::size_t from = 0;
  for (int i = 0; i < part; ++i) from = name.find('/', from) + 1;
  return name.replace(from, name.find('/', from) - from, text);
}

TEST(ProcessTest, OnlyWhatIsKnownToHaveEndedIsGone) {
  const std::string self = this_process();
  EXPECT_EQ(std::count(self.begin(), self.end(), '/'), 4) << self;
  EXPECT_FALSE(is_gone(self));
  EXPECT_FALSE(is_gone(self + "#thread 2"));
  const std::string ended = ended_process();
  EXPECT_TRUE(is_gone(ended));
  EXPECT_TRUE(is_gone(ended + "#thread 2"));
  EXPECT_FALSE(is_gone(with_part(ended, 0, "another-host")));
  EXPECT_TRUE(is_gone(with_part(self, 1, "another-boot")));
  EXPECT_FALSE(is_gone(with_part(ended, 2, "1"))) << "pids of another container";
  EXPECT_TRUE(is_gone(self.substr(0, self.rfind('/')) + "/1")) << "the pid was used again";
  EXPECT_FALSE(is_gone("someone"));
  EXPECT_FALSE(is_gone(""));
}

class LeaseTest : public StoreTest {
 protected:
  Store store_ = open();
};

TEST_F(LeaseTest, OneOwnerHoldsALeaseUntilItIsReleased) {
  EXPECT_TRUE(*store_.try_lease("compile/1", "a", hours(1)));
  EXPECT_TRUE(*store_.try_lease("compile/1", "a", hours(1))) << "renewed";
  EXPECT_FALSE(*store_.try_lease("compile/1", "b", hours(1)));
  EXPECT_TRUE(*store_.try_lease("compile/2", "b", hours(1)));
  EXPECT_FALSE(*store_.heartbeat("compile/1", "b", hours(1)));
  EXPECT_TRUE(*store_.heartbeat("compile/1", "a", hours(1)));
  ASSERT_TRUE(store_.release("compile/1", "b"));
  EXPECT_FALSE(*store_.try_lease("compile/1", "b", hours(1))) << "it was not b's to release";
  ASSERT_TRUE(store_.release("compile/1", "a"));
  EXPECT_TRUE(*store_.try_lease("compile/1", "b", hours(1)));
  EXPECT_EQ(store_.leases()->size(), 2u);
  ASSERT_TRUE(store_.release_all("b"));
  EXPECT_TRUE(store_.leases()->empty());
}

TEST_F(LeaseTest, AnExpiredLeaseIsTakenOverAndItsOwnerToldSo) {
  EXPECT_TRUE(*store_.try_lease("compile/1", "a", milliseconds(0)));
  EXPECT_TRUE(*store_.heartbeat("compile/1", "a", milliseconds(0))) << "nobody wanted it so far";
  EXPECT_TRUE(*store_.try_lease("compile/1", "b", hours(1)));
  EXPECT_FALSE(*store_.heartbeat("compile/1", "a", hours(1)));
  EXPECT_EQ(store_.leases()->front().owner, "b");
}

TEST_F(LeaseTest, TheLeaseOfADeadProcessIsTakenOverAtOnce) {
  EXPECT_TRUE(*store_.try_lease("compile/1", ended_process(), hours(1)));
  EXPECT_TRUE(*store_.try_lease("compile/1", this_process(), hours(1)));
  EXPECT_FALSE(*store_.try_lease("compile/1", "b", hours(1)));
}

// What the rows of a lease of `ttl` look like when the wall clock was `hours` further on the
// machine that took it than it is here, as after this one's was set back by as much.
class ClockJumpTest : public LeaseTest {
 protected:
  void move_clock_of_owner(int by) {
    ASSERT_TRUE(
        database_->execute("UPDATE lease SET "
                           "heartbeat = strftime('%Y-%m-%dT%H:%M:%fZ', heartbeat, ?1), "
                           "expires = strftime('%Y-%m-%dT%H:%M:%fZ', expires, ?1)",
                           fmt::format("{:+} hours", by)));
  }
  void move_to_another_machine() {
    ASSERT_TRUE(database_->execute("UPDATE lease SET boot = 'another'"));
  }
  // Asks until it gets the lease; each time `owner_lives` the owner has said so in between.
  bool gets_it(bool owner_lives) {
    for (int look = 0; look < 100; ++look) {
      if (*store_.try_lease("compile/1", "b", hours(1))) return true;
      std::this_thread::sleep_for(milliseconds(5));
      if (owner_lives) {
        EXPECT_TRUE(*store_.heartbeat("compile/1", "a", milliseconds(50)));
        move_to_another_machine();
      }
    }
    return false;
  }
  std::unique_ptr<Database> database_ =
      *Database::open(path_, Database::Access::kReadWriteCreate, std::chrono::seconds(10));
};

TEST_F(ClockJumpTest, NeitherEndsNorKeepsALeaseOfThisBoot) {
  EXPECT_TRUE(*store_.try_lease("compile/1", "a", hours(1)));
  move_clock_of_owner(-5);
  EXPECT_FALSE(*store_.try_lease("compile/1", "b", hours(1)));
  EXPECT_TRUE(*store_.try_lease("compile/1", "a", milliseconds(0)));
  move_clock_of_owner(+5);
  EXPECT_TRUE(*store_.try_lease("compile/1", "b", hours(1)));
}

TEST_F(ClockJumpTest, DoesNotEndTheLeaseOfALivingOwnerElsewhere) {
  EXPECT_TRUE(*store_.try_lease("compile/1", "a", milliseconds(50)));
  move_to_another_machine();
  move_clock_of_owner(-5);
  EXPECT_FALSE(gets_it(/*owner_lives=*/true));
}

TEST_F(ClockJumpTest, DoesNotKeepTheLeaseOfADeadOwnerElsewhere) {
  EXPECT_TRUE(*store_.try_lease("compile/1", "a", milliseconds(50)));
  move_to_another_machine();
  move_clock_of_owner(+5);
  EXPECT_FALSE(*store_.try_lease("compile/1", "b", hours(1))) << "it may live";
  EXPECT_TRUE(gets_it(/*owner_lives=*/false));
}

TEST_F(LeaseTest, AllOfAnOwnersLeasesAreKeptAliveAtOnce) {
  EXPECT_TRUE(*store_.try_lease("compile/1", "a", milliseconds(0)));
  EXPECT_TRUE(*store_.try_lease("compile/2", "a", milliseconds(0)));
  EXPECT_TRUE(*store_.try_lease("compile/3", "b", milliseconds(0)));
  EXPECT_EQ(*store_.heartbeat_all("a", hours(1)), 2);
  EXPECT_FALSE(*store_.try_lease("compile/1", "c", hours(1)));
  EXPECT_FALSE(*store_.try_lease("compile/2", "c", hours(1)));
  EXPECT_TRUE(*store_.try_lease("compile/3", "c", hours(1)));
}

TEST_F(LeaseTest, ARunWhoseProcessDiedBecomesInterrupted) {
  const Id run = *store_.begin_run({.command = "hone tune a.mlir", .version = "0.1.0"});
  ASSERT_TRUE(store_.log_event("start", ""));
  auto database =
      *Database::open(path_, Database::Access::kReadWriteCreate, std::chrono::seconds(10));
  const Id second = *store_.begin_run({.command = "hone tune b.mlir", .version = "0.1.0"});
  EXPECT_EQ(store_.run(run)->state, RunState::kRunning) << "this process lives";
  ASSERT_TRUE(database->execute("UPDATE run SET process = ? WHERE id = ?", ended_process(), run));
  const Id third = *store_.begin_run({.command = "hone tune a.mlir", .version = "0.1.0"});
  EXPECT_EQ(store_.run(run)->state, RunState::kInterrupted);
  EXPECT_EQ(store_.run(run)->ended, store_.events(run)->front().when);
  EXPECT_EQ(store_.run(second)->state, RunState::kRunning);
  EXPECT_EQ(store_.run(third)->state, RunState::kRunning);
  EXPECT_EQ(store_.runs()->size(), 3u);
}

}  // namespace
}  // namespace hone::store
