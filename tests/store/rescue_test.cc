// Stores with really damaged pages: what is said of them, and what is saved.
#include <gmock/gmock.h>

#include <fstream>
#include <random>

#include "tests/store/fixture.h"

namespace hone::store {
namespace {

using testing::Contains;
using testing::ContainsRegex;
using testing::HasSubstr;

constexpr std::size_t kPage = 4096;
constexpr int kCandidates = 200;

class RescueTest : public StoreTest {
 protected:
  RescueTest() {
    Store store = open();
    const Place place(store);
    EXPECT_TRUE(store.begin_run({.command = "hone tune a.mlir", .version = "0.1.0"}));
    for (int number = 0; number < kCandidates; ++number) {
      const std::string identity = fmt::format("e{}", number);
      const Id candidate = place.compile(store, fmt::format("[{}]", number), identity);
      if (number % 20 == 0) store_large_code(store, candidate, identity);
      place.measure(store, identity, 0.001 * (number + 1), Phase::kSearch);
      EXPECT_TRUE(store.log_event("tried", identity));
    }
  }
  void SetUp() override { whole_ = *read_file(path_); }

  // As real code is: over many pages, and not to be compressed.
  static void store_large_code(Store& store, Id candidate, const std::string& identity) {
    std::mt19937 random(static_cast<unsigned>(candidate));
    std::string code(20'000, ' ');
    for (char& byte : code) byte = static_cast<char>(random());
    EXPECT_TRUE(store.record(ArtifactRow{.candidate = candidate,
                                         .identity = identity,
                                         .format = "embedded-elf-x86_64",
                                         .launch = "{}",
                                         .code = code}));
  }
  std::size_t pages() const { return whole_.size() / kPage; }
  // The file with page `page` (from 1, as SQLite counts) overwritten; its header is left.
  void damage(std::size_t page) {
    std::string bytes = whole_;
    for (std::size_t at = page == 1 ? 100 : (page - 1) * kPage; at < page * kPage; ++at)
      bytes[at] = static_cast<char>(at * 131 + page);
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  std::vector<std::string> damage_found() {
    Store store = open(Mode::kReadOnly);
    return store.check()->damage;
  }
  // A page on which a row of `table` lies, and not one of its indexes.
  std::size_t page_of(const std::string& table) {
    for (std::size_t page = pages(); page > 1; --page) {
      damage(page);
      Result<Store> store = Store::open(path_, Mode::kReadOnly);
      if (!store) continue;
      const RescueReport report = *store->rescuable();
      if (report.at(table).lost.value_or(1) > 0) return page;
    }
    ADD_FAILURE() << "no page of " << table;
    return 0;
  }

  std::string whole_;
  std::filesystem::path saved_ = folder_.path() / "saved.db";
};

TEST_F(RescueTest, ASoundStoreIsSavedWhole) {
  const RescueReport report = *Store::rescue(path_, saved_);
  EXPECT_EQ(report.at("candidate"), (RescuedRows{kCandidates, 0}));
  EXPECT_EQ(report.at("measurement"), (RescuedRows{kCandidates, 0}));
  EXPECT_EQ(report.at("event"), (RescuedRows{kCandidates, 0}));
  EXPECT_EQ(report.at("blob"), (RescuedRows{kCandidates + 11, 0}))
      << "and the dispatch's source, and ten that were replaced";
  path_ = saved_;
  Store store = open();
  EXPECT_TRUE(store.check()->ok());
  EXPECT_EQ(store.load_artifact(kCandidates)->code, "code of e199");
}

TEST_F(RescueTest, DamageIsNamedByTableAndPageWhereverAStoreIsOpenedForWriting) {
  const std::size_t page = page_of("measurement");
  damage(page);
  const Result<Store> store = Store::open(path_, Mode::kReadWrite);
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().kind, ErrorKind::kInput);
  EXPECT_THAT(store.error().message,
              ContainsRegex(fmt::format("is damaged .table measurement: .*[Pp]age {}\\b", page)));
  EXPECT_THAT(store.error().message, HasSubstr("'hone store rescue " + path_.string() + " NEW'"));
  std::string bytes = *read_file(path_);
  EXPECT_EQ(bytes.size(), whole_.size());
  EXPECT_FALSE(std::filesystem::exists(path_.string() + "-wal")) << "and left alone";
}

TEST_F(RescueTest, AnyPageButThoseOfTheSchemaCostsItsOwnRowsOnly) {
  int schema_pages = 0;
  for (std::size_t page = 2; page <= pages(); ++page) {
    SCOPED_TRACE(page);
    damage(page);
    if (!Store::open(path_, Mode::kReadOnly)) {  // says where the tables are, as the first does
      EXPECT_FALSE(Store::rescue(path_, saved_));
      ++schema_pages;
      continue;
    }
    EXPECT_THAT(damage_found(), Contains(HasSubstr("table "))) << "every page is looked at";
    std::filesystem::remove(saved_);
    const Result<RescueReport> report = Store::rescue(path_, saved_);
    ASSERT_TRUE(report) << report.error().message;
    Result<Store> saved = Store::open(saved_, Mode::kReadWrite);
    ASSERT_TRUE(saved) << saved.error().message;
    EXPECT_TRUE(saved->check()->ok());
    EXPECT_TRUE(saved->leases()->empty());
    // What is there is as it was: the n-th candidate took n milliseconds.
    const std::vector<CandidateView> rows = *saved->candidate_rows();
    for (const CandidateView& row : rows)
      if (row.median_seconds) {
        EXPECT_DOUBLE_EQ(*row.median_seconds, 0.001 * static_cast<double>(row.candidate));
      }
  }
  EXPECT_LE(schema_pages, 5) << "of " << pages();
}

TEST_F(RescueTest, ADamagedLeafOfATableCostsFewOfItsRows) {
  const std::size_t page = page_of("measurement");
  damage(page);
  const RescueReport report = *Store::rescue(path_, saved_);
  EXPECT_EQ(report.at("measurement").saved + report.at("measurement").lost.value_or(0),
            kCandidates);
  EXPECT_GT(report.at("measurement").lost.value_or(0), 0);
  EXPECT_LT(report.at("measurement").lost.value_or(0), 40) << "as many as fit on a page";
  EXPECT_EQ(report.at("candidate"), (RescuedRows{kCandidates, 0}));
  EXPECT_EQ(report.at("artifact"), (RescuedRows{kCandidates, 0}));
}

TEST_F(RescueTest, CodeThatIsLostIsAskedForAgain) {
  const std::size_t page = page_of("blob");
  damage(page);
  ASSERT_TRUE(Store::rescue(path_, saved_));
  path_ = saved_;
  Store store = open();
  int lost = 0;
  for (Id candidate = 1; candidate <= kCandidates; ++candidate) {
    const KnownResults known = *store.known(candidate, 1);
    ASSERT_TRUE(known.artifact) << candidate;
    if (!known.artifact->has_code) ++lost;
  }
  EXPECT_GT(lost, 0);
  EXPECT_LT(lost, 100);
}

TEST_F(RescueTest, WithoutTheFirstPageNothingIsFoundAndNothingMade) {
  damage(1);
  const Result<RescueReport> report = Store::rescue(path_, saved_);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().kind, ErrorKind::kInput);
  EXPECT_THAT(report.error().message, HasSubstr(path_.string()));
  EXPECT_FALSE(std::filesystem::exists(saved_));
}

TEST_F(RescueTest, NeverWritesOverAFile) {
  std::ofstream(saved_) << "mine";
  EXPECT_EQ(Store::rescue(path_, saved_).error().message,
            "'" + saved_.string() + "' exists already: name a file to be made");
  EXPECT_EQ(*read_file(saved_), "mine");
}

}  // namespace
}  // namespace hone::store
