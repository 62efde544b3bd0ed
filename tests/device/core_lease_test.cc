#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "base/file.h"
#include "device/cpu/kind.h"

namespace hone::device::cpu {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

// A process that holds `cores` until it is killed; `ready` when it has them.
pid_t hold_in_another_process(std::span<const int> cores, const std::filesystem::path& folder) {
  int ends[2];
  if (pipe(ends) != 0) return -1;
  const pid_t child = fork();
  if (child == 0) {
    const auto lease = CoreLease::acquire(cores, milliseconds(0), folder);
    const char got = lease ? 'y' : 'n';
    if (write(ends[1], &got, 1) != 1) _exit(1);
    for (;;) pause();
  }
  char got = 'n';
  const bool told = read(ends[0], &got, 1) == 1;
  close(ends[0]);
  close(ends[1]);
  return told && got == 'y' ? child : -1;
}

class CoreLeaseTest : public testing::Test {
 protected:
  TemporaryFolder folder_ = std::move(TemporaryFolder::create("hone-lease-").value());
  std::filesystem::path place_ = folder_.path() / "leases";
};

TEST_F(CoreLeaseTest, KeepsASecondProcessOutUntilTheFirstDies) {
  const pid_t holder = hold_in_another_process(std::array{0, 1}, place_);
  ASSERT_GT(holder, 0);
  const auto refused = CoreLease::acquire(std::array{1}, milliseconds(0), place_);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message,
              HasSubstr(fmt::format("core 1 is leased by process {}", holder)));
  EXPECT_FALSE(CoreLease::acquire(std::array{1}, milliseconds(50), place_));
  EXPECT_TRUE(CoreLease::acquire(std::array{2}, milliseconds(0), place_));

  kill(holder, SIGKILL);
  waitpid(holder, nullptr, 0);
  const auto lease = CoreLease::acquire(std::array{1, 0}, milliseconds(0), place_);
  ASSERT_TRUE(lease) << lease.error().message;
  EXPECT_EQ(lease->cores(), (std::vector<int>{0, 1}));
}

TEST_F(CoreLeaseTest, EndsWithItsOwner) {
  for (int i = 0; i < 3; ++i) {
    auto lease = CoreLease::acquire(std::array{0}, milliseconds(0), place_);
    ASSERT_TRUE(lease);
    const CoreLease moved = std::move(*lease);
    EXPECT_FALSE(CoreLease::acquire(std::array{0}, milliseconds(0), place_));
  }
}

TEST_F(CoreLeaseTest, TakesAllOrNone) {
  const auto one = CoreLease::acquire(std::array{1}, milliseconds(0), place_);
  ASSERT_TRUE(one);
  EXPECT_FALSE(CoreLease::acquire(std::array{0, 1}, milliseconds(0), place_));
  EXPECT_TRUE(CoreLease::acquire(std::array{0}, milliseconds(0), place_));
}

TEST_F(CoreLeaseTest, RefusesAFolderThatIsNone) {
  ASSERT_TRUE(write_file_atomically(place_, "in the way"));
  EXPECT_THAT(CoreLease::acquire(std::array{0}, milliseconds(0), place_).error().message,
              HasSubstr("not a folder of yours"));
}

}  // namespace
}  // namespace hone::device::cpu
