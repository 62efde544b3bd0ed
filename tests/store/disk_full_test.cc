// A disk that is full at a chosen write: SQLite's own seam for system calls stands in for it, so
// that everything above the kernel is what users run.
#include <gmock/gmock.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>

#include "tests/store/fixture.h"

namespace hone::store {
namespace {

using testing::HasSubstr;

// The system call has no argument to carry these.
int writes_left = 0;
bool was_full = false;

bool is_full() {
  if (writes_left-- > 0) return false;
  was_full = true;
  errno = ENOSPC;
  return true;
}
ssize_t full_write(int fd, const void* bytes, std::size_t size) {
  return is_full() ? -1 : ::write(fd, bytes, size);
}
ssize_t full_pwrite(int fd, const void* bytes, std::size_t size, off_t offset) {
  return is_full() ? -1 : ::pwrite(fd, bytes, size, offset);
}

class DiskFullTest : public StoreTest {
 protected:
  ~DiskFullTest() override { have_space(); }

  void have_space_for(int writes) {
    writes_left = writes;
    was_full = false;
    sqlite3_vfs* vfs = sqlite3_vfs_find(nullptr);
    vfs->xSetSystemCall(vfs, "write", reinterpret_cast<sqlite3_syscall_ptr>(full_write));
    vfs->xSetSystemCall(vfs, "pwrite", reinterpret_cast<sqlite3_syscall_ptr>(full_pwrite));
    vfs->xSetSystemCall(vfs, "pwrite64", reinterpret_cast<sqlite3_syscall_ptr>(full_pwrite));
  }
  void have_space() {
    sqlite3_vfs* vfs = sqlite3_vfs_find(nullptr);
    for (const char* call : {"write", "pwrite", "pwrite64"})
      vfs->xSetSystemCall(vfs, call, nullptr);
  }
};

// Everything a session does with one candidate; the first error ends it.
Status tune_one(Store& store, const Place& place, int number) {
  const std::string identity = fmt::format("e{}", number);
  CandidateRow candidate{.dispatch = place.dispatch,
                         .build = place.build,
                         .provider = "iree",
                         .configuration = fmt::format("[{}]", number)};
  HONE_ASSIGN(candidate.id, store.add_candidate(candidate));
  HONE_TRY(store.try_lease(fmt::format("compile/{}", candidate.id), "a", std::chrono::hours(1)));
  HONE_TRY(store.heartbeat_all("a", std::chrono::hours(1)));
  HONE_TRY(store.record(ArtifactRow{.candidate = candidate.id,
                                    .identity = identity,
                                    .format = "elf",
                                    .launch = "{}",
                                    .code = std::string(20'000, 'x') + identity}));
  HONE_TRY(store.record(VerificationRow{
      .dispatch = place.dispatch, .identity = identity, .device = place.device, .right = true}));
  HONE_TRY(store.record(Measurement{.dispatch = place.dispatch,
                                    .identity = identity,
                                    .device = place.device,
                                    .timing = some_timing(0.001)}));
  return store.release(fmt::format("compile/{}", candidate.id), "a");
}

TEST_F(DiskFullTest, AFullDiskAtAnyWriteIsOneClearErrorAndLosesNothing) {
  std::optional<Place> place;
  {
    Store store = open();
    place.emplace(store);
    ASSERT_TRUE(tune_one(store, *place, 0));
  }
  bool reached_the_end = false;
  for (int writes = 0; !reached_the_end; ++writes) {
    ASSERT_LT(writes, 500) << "a session for one candidate never ends";
    SCOPED_TRACE(writes);
    Store store = open();
    have_space_for(writes);
    const Status status = tune_one(store, *place, writes + 1);
    have_space();
    reached_the_end = !was_full;
    if (status) continue;
    EXPECT_EQ(status.error().kind, ErrorKind::kEnvironment);
    EXPECT_THAT(status.error().message, HasSubstr("no space left on the disk"));
    // With space again, the same Store goes on where it was.
    EXPECT_TRUE(store.check()->ok());
    EXPECT_TRUE(tune_one(store, *place, 0));
    const Status again = tune_one(store, *place, writes + 1);
    EXPECT_TRUE(again) << again.error().message;
  }
  Store store = open();
  EXPECT_TRUE(store.check()->ok());
  const std::vector<CandidateView> rows = *store.candidate_rows();
  for (const CandidateView& row : rows)
    EXPECT_EQ(row.state, CandidateState::kMeasured) << row.configuration;
}

TEST_F(DiskFullTest, AFullDiskAtAnyWriteOfMakingTheFileLeavesNoHalfMadeStore) {
  for (int writes = 0;; ++writes) {
    ASSERT_LT(writes, 500);
    SCOPED_TRACE(writes);
    path_ = folder_.path() / fmt::format("{}.db", writes);
    have_space_for(writes);
    const Result<Store> store = Store::open(path_, Mode::kReadWrite);
    have_space();
    if (!was_full) break;
    if (!store) {
      EXPECT_THAT(store.error().message, HasSubstr("no space left on the disk"));
    }
    EXPECT_EQ(open_error(), "opened");
  }
}

TEST_F(DiskFullTest, AFullDiskAtAnyWriteOfARescueLeavesNothingHalfMade) {
  {
    Store store = open();
    const Place place(store);
    for (int number = 0; number < 5; ++number) ASSERT_TRUE(tune_one(store, place, number));
  }
  for (int writes = 0;; ++writes) {
    ASSERT_LT(writes, 500);
    SCOPED_TRACE(writes);
    const std::filesystem::path into = folder_.path() / fmt::format("{}.db", writes);
    have_space_for(writes);
    const Result<RescueReport> report = Store::rescue(path_, into);
    have_space();
    if (!was_full) break;
    if (report) continue;  // the log stayed behind where only folding it in had no space
    EXPECT_THAT(report.error().message, HasSubstr("no space left on the disk"));
    EXPECT_FALSE(std::filesystem::exists(into));
  }
}

}  // namespace
}  // namespace hone::store
