// What is merged comes from elsewhere: a store that is not whole must not make this one so.
#include <gmock/gmock.h>
#include <sqlite3.h>

#include "tests/store/fixture.h"

namespace hone::store {
namespace {

using testing::HasSubstr;

class MergeDamageTest : public StoreTest {
 protected:
  // Another store with one candidate, changed by `sql`; what merging it says.
  std::string merge_after(const char* sql) {
    const std::filesystem::path other = folder_.path() / "other.db";
    {
      Store theirs = *Store::open(other, Mode::kReadWrite);
      Place(theirs).compile(theirs, "[1]", "e1");
    }
    sqlite3* handle = nullptr;
    EXPECT_EQ(sqlite3_open(other.c_str(), &handle), SQLITE_OK);
    char* words = nullptr;
    EXPECT_EQ(sqlite3_exec(handle, sql, nullptr, nullptr, &words), SQLITE_OK) << words;
    sqlite3_close(handle);
    Store mine = open();
    const auto report = mine.merge({other});
    EXPECT_TRUE(mine.check()->ok());
    EXPECT_EQ(mine.candidate_rows()->size(), report ? 1u : 0u);
    return report ? "merged" : report.error().message;
  }
};

TEST_F(MergeDamageTest, AWholeStoreIsMerged) {
  EXPECT_EQ(merge_after("SELECT 1"), "merged");
}

TEST_F(MergeDamageTest, ABlobThatIsNotWhatItsHashSaysIsRefused) {
  EXPECT_THAT(merge_after("UPDATE blob SET zstd = x'00'"), HasSubstr("is not what was stored"));
}

TEST_F(MergeDamageTest, ALaunchThatIsNotJsonIsRefused) {
  EXPECT_THAT(merge_after("UPDATE artifact SET launch = '{'"),
              HasSubstr("launch of artifact is not JSON in 1 rows"));
}

TEST_F(MergeDamageTest, AReferenceToNothingIsRefused) {
  EXPECT_THAT(merge_after("UPDATE candidate SET dispatch_id = 77"),
              HasSubstr("refers to a row of dispatch that is not there"));
}

TEST_F(MergeDamageTest, AMissingColumnIsRefused) {
  EXPECT_THAT(merge_after("ALTER TABLE artifact DROP COLUMN launch"),
              HasSubstr("artifact.launch is missing"));
}

}  // namespace
}  // namespace hone::store
