#include <gmock/gmock.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "store/host.h"
#include "store/row_queries.h"
#include "store/schema.h"
#include "store/sqlite.h"
#include "tests/store/fixture.h"
#include "tests/store/schema_1.h"

namespace hone::store {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// Takes from a store what schema 4 has added, and from one of schema 3 what that has added.
constexpr const char* kWithoutSchema4 =
    "ALTER TABLE verification DROP COLUMN absolute_tolerance; "
    "ALTER TABLE verification DROP COLUMN relative_tolerance; PRAGMA user_version = 3;";
constexpr const char* kWithoutSchema3 =
    "ALTER TABLE run DROP COLUMN task; ALTER TABLE program_measurement DROP COLUMN purpose; "
    "ALTER TABLE program_measurement DROP COLUMN same_as; DROP TABLE near_tie; "
    "DROP TABLE dispatch_result; DROP TABLE flag_choice; PRAGMA user_version = 2;";

class OpenTest : public StoreTest {
 protected:
  void run_sql(const char* sql) {
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open(path_.c_str(), &handle), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(handle, sql, nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(handle);
  }
  std::string pragma(const char* name) {
    auto database =
        *Database::open(path_, Database::Access::kReadOnly, std::chrono::milliseconds(100));
    return **database->find<std::string>(fmt::format("PRAGMA {}", name));
  }
  // What `work` returns when called by a user who may not do everything.
  std::string as_nobody(const std::function<std::string()>& work) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      std::string text = "cannot become another user";
      if (::geteuid() != 0 || ::seteuid(65534) == 0) text = work();
      const bool written = ::write(ends[1], text.data(), text.size()) >= 0;
      ::_exit(written ? 0 : 1);
    }
    ::close(ends[1]);
    std::string text(4096, '\0');
    const ssize_t size = ::read(ends[0], text.data(), text.size());
    ::close(ends[0]);
    ::waitpid(child, nullptr, 0);
    text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return text;
  }
};

TEST_F(OpenTest, ANewFileIsMarkedAsAStoreOfTheNewestSchemaWithAWriteAheadLog) {
  open();
  EXPECT_EQ(pragma("application_id"), std::to_string(0x686f6e65));
  EXPECT_EQ(pragma("user_version"), std::to_string(kSchemaVersion));
  EXPECT_EQ(pragma("journal_mode"), "wal");
}

TEST_F(OpenTest, NothingIsLeftBesideAFileThatIsClosed) {
  open();
  EXPECT_TRUE(std::filesystem::exists(path_));
  EXPECT_FALSE(std::filesystem::exists(path_.string() + "-wal"));
}

TEST_F(OpenTest, AnEmptyFileBecomesAStore) {
  std::ofstream(path_).close();
  EXPECT_EQ(open_error(Mode::kReadOnly), "the store '" + path_.string() + "' is empty");
  EXPECT_EQ(open_error(), "opened");
}

TEST_F(OpenTest, PathsThatHoldNoFile) {
  EXPECT_EQ(open_error(Mode::kReadOnly),
            "there is no store '" + path_.string() + "': 'hone tune' makes one");
  path_ = folder_.path();
  EXPECT_EQ(open_error(), "cannot open the store '" + path_.string() + "': it is a folder");
  path_ = folder_.path() / "no" / "hone.db";
  EXPECT_EQ(open_error(), "cannot make the store '" + path_.string() + "': there is no folder '" +
                              path_.parent_path().string() + "'");
}

TEST_F(OpenTest, UnusualNamesAreNames) {
  for (const char* name : {"a b%20?c#d", ":memory:", "file:x?mode=memory"}) {
    path_ = folder_.path() / name;
    EXPECT_EQ(open_error(), "opened");
    EXPECT_TRUE(std::filesystem::exists(path_)) << name;
    EXPECT_EQ(open_error(Mode::kReadOnly), "opened");
  }
}

TEST_F(OpenTest, AFileThatIsNoDatabaseIsRefused) {
  std::ofstream(path_) << std::string(10'000, 'x');
  EXPECT_EQ(open_error(),
            "'" + path_.string() + "' is not a store of hone: it is not an SQLite database");
  EXPECT_EQ(*read_file(path_), std::string(10'000, 'x')) << "and left alone";
}

TEST_F(OpenTest, TheDatabaseOfAnotherProgramIsRefusedAndLeftAlone) {
  run_sql("CREATE TABLE bookmark (url TEXT)");
  const std::string before = *read_file(path_);
  EXPECT_EQ(open_error(), "'" + path_.string() +
                              "' is not a store of hone: it is the database of another program");
  EXPECT_EQ(*read_file(path_), before);
}

TEST_F(OpenTest, AStoreOfANewerHoneIsRefused) {
  open();
  run_sql(fmt::format("PRAGMA user_version = {}", kSchemaVersion + 1).c_str());
  const Result<Store> store = Store::open(path_, Mode::kReadWrite);
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().kind, ErrorKind::kInput);
  EXPECT_THAT(store.error().message,
              HasSubstr(fmt::format("was made by a newer hone (schema {}; this one knows {})",
                                    kSchemaVersion + 1, kSchemaVersion)));
}

// What schema 1 lacks: by which rules, against what, by whom. Such a file is read after it was
// written to.
TEST_F(OpenTest, AStoreOfSchema1IsBroughtUpToDate) {
  {
    Store store = open();
    const Place place(store);
    place.compile(store, "{}", "e");
    place.verify(store, "e", true);
  }
  run_sql(kWithoutSchema4);
  run_sql(kWithoutSchema3);
  run_sql(
      "ALTER TABLE verification DROP COLUMN rules; ALTER TABLE verification DROP COLUMN reference; "
      "ALTER TABLE artifact DROP COLUMN seal; PRAGMA user_version = 1");
  EXPECT_THAT(open_error(Mode::kReadOnly), HasSubstr("made by an older hone (schema 1"));
  Store store = open();
  EXPECT_EQ(pragma("user_version"), std::to_string(kSchemaVersion));
  EXPECT_TRUE(store.check()->ok());
  const CandidateDetails details = *store.details(1);
  ASSERT_EQ(details.verifications.size(), 1u);
  EXPECT_EQ(details.verifications[0].rules, 1);
  EXPECT_EQ(details.verifications[0].reference, "");
  EXPECT_FALSE(*store.is_own(1)) << "nobody has said who compiled it";
}

// Columns with their types and keys, references and indexes, a line each.
std::vector<std::string> schema_of(const std::filesystem::path& path) {
  const auto database =
      *Database::open(path, Database::Access::kReadOnly, std::chrono::milliseconds(100));
  constexpr std::string_view kSchema = R"sql(
SELECT format('%s column %s|%s|%s|%s|%s|%s', t.name, c.cid, c.name, c.type, c."notnull",
              c.dflt_value, c.pk)
  FROM sqlite_schema AS t JOIN pragma_table_info(t.name) AS c WHERE t.type = 'table'
UNION ALL SELECT format('%s reference %s|%s|%s', t.name, r."from", r."table", r."to")
  FROM sqlite_schema AS t JOIN pragma_foreign_key_list(t.name) AS r WHERE t.type = 'table'
UNION ALL SELECT format('%s index %s|%s|%s|%s|%s', t.name, i.origin, i."unique", i.partial, c.seqno,
                        c.name)
  FROM sqlite_schema AS t JOIN pragma_index_list(t.name) AS i JOIN pragma_index_info(i.name) AS c
  WHERE t.type = 'table'
UNION ALL SELECT format('%s is %s|%s', name, wr, strict) FROM pragma_table_list
UNION ALL SELECT sql FROM sqlite_schema WHERE type = 'index' AND sql <> '' ORDER BY 1)sql";
  return *database->all<std::string>(kSchema);
}

TEST_F(OpenTest, AStoreOfSchema1GetsTheSchemaOfANewOne) {
  open();
  const std::vector<std::string> fresh = schema_of(path_);
  EXPECT_GT(fresh.size(), 200u);
  path_ = folder_.path() / "old.db";
  run_sql(kSchema1);
  EXPECT_TRUE(open().check()->ok());
  EXPECT_EQ(schema_of(path_), fresh);
}

// Schema 2 has in commands, words and events what a later run goes on from.
TEST_F(OpenTest, AStoreOfSchema2IsGoneOnFrom) {
  Id run = 0, program = 0, dispatch = 0, candidate = 0;
  {
    Store store = open();
    const Place place(store);
    dispatch = place.dispatch;
    candidate = place.add(store, R"({"tile":4})");
    program = *store.intern(ProgramRow{0, "p", "a.mlir", "{}"});
    run = *store.begin_run(
        {.command = "hone tune a.mlir --budget 10m --plain", .version = "1", .program = program});
    *store.begin_run({.command = "hone tune a.mlir --budget=5s", .program = program});
    ProgramMeasurement row;
    row.program = program;
    row.build = place.build;
    row.device = place.device;
    row.variant = "flags: im2col";
    row.verdict = "the same module as default";
    ASSERT_TRUE(store.record(row));
    row.variant = "default";
    row.verdict = "no different";
    ASSERT_TRUE(store.record(row));
    ASSERT_TRUE(store.log_event(
        "tuned",
        fmt::format(R"({{"dispatch":{},"attributes":{{"tile":8}},"code":"ptx","budget":600,)"
                    R"("default_is_wrong":true,"replacing":"triton","launch":{{"g":1}},)"
                    R"("near_ties":[{{"candidate":{},"attributes":"tile=4"}}]}})",
                    dispatch, candidate)));
    ASSERT_TRUE(store.log_event(
        "tuned", fmt::format(R"({{"dispatch":{},"attributes":null,"code":""}})", dispatch)));
    ASSERT_TRUE(store.log_event("chosen flags",
                                R"({"best":{"name":"O3","flags":["--O3"]},)"
                                R"("bases":[{"name":"","flags":[]},{"name":"b","flags":["--b"]}],)"
                                R"("tried":[[],["--O3"]]})"));
  }
  run_sql(kWithoutSchema4);
  run_sql(kWithoutSchema3);
  Store store = open();
  EXPECT_EQ(pragma("user_version"), std::to_string(kSchemaVersion));
  EXPECT_TRUE(store.check()->ok());
  const std::vector<store::Run> runs = *store.runs();
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].task, "hone tune a.mlir --plain");
  EXPECT_EQ(runs[1].task, "hone tune a.mlir");

  const std::vector<ProgramMeasurement> rows = *store.program_measurements(program);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].purpose, Purpose::kFlags);
  EXPECT_EQ(rows[0].variant, "im2col");
  EXPECT_EQ(rows[0].same_as, "default");
  EXPECT_EQ(rows[1].purpose, Purpose::kProof);
  EXPECT_EQ(rows[1].variant, "default");

  const std::vector<DispatchResult> results = *store.dispatch_results(runs[1].id);
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].dispatch, dispatch);
  EXPECT_EQ(results[0].payload, R"({"tile":8})");
  EXPECT_EQ(results[0].replacing, "triton");
  EXPECT_EQ(results[0].code, "ptx");
  EXPECT_EQ(results[0].launch, R"({"g":1})");
  EXPECT_EQ(results[0].accuracy, std::nullopt);
  EXPECT_TRUE(results[0].default_is_wrong);
  EXPECT_EQ(results[0].budget, 600);
  EXPECT_THAT(results[0].near_ties, testing::ElementsAre(NearTieRow{candidate, R"("tile=4")", ""}));
  EXPECT_EQ(results[1].payload, std::nullopt) << "it keeps its default";
  EXPECT_EQ(results[1].budget, std::nullopt);

  const FlagChoiceRow choice = **store.flag_choice(runs[1].id);
  EXPECT_EQ(choice.best, (Flags{"O3", R"(["--O3"])"}));
  EXPECT_THAT(choice.bases, testing::ElementsAre(Flags{"", "[]"}, Flags{"b", R"(["--b"])"}));
  EXPECT_THAT(choice.tried, testing::ElementsAre(Flags{"", "[]"}, Flags{"", R"(["--O3"])"}));
  EXPECT_FALSE(*store.flag_choice(run));
}

// Schemas 1 to 3 have tolerances as texts.
TEST_F(OpenTest, TolerancesOfOlderSchemasBecomeNumbers) {
  run_sql(kSchema1);
  run_sql(
      "INSERT INTO blob VALUES (1, 'hash', 0, x'');"
      "INSERT INTO device_identity VALUES (1, 'hash', 'cpu', '6.1', '{}');"
      "INSERT INTO dispatch VALUES (1, 'fingerprint', 'main', NULL, 1, '{}');");
  const std::string_view texts[] = {
      "absolute 0, relative 0: exact: sums of 16 terms, relative 7",
      "absolute 1.5e-05, relative 0.00098: values up to 3; absolute 1, relative 2: why",
      "absolute inf, relative 0: why", "exact"};
  for (const std::string_view text : texts)
    run_sql(fmt::format("INSERT INTO verification VALUES (NULL, '{0}', 1, 'e', 1, 1, NULL, NULL, "
                        "'', '', 0, '{0}', '', '2026-11-21T10:00:00.000Z', NULL)",
                        text)
                .c_str());
  open();
  auto database =
      *Database::open(path_, Database::Access::kReadOnly, std::chrono::milliseconds(100));
  const auto rows = *select_all<VerificationRow>(*database, "ORDER BY id");
  ASSERT_EQ(rows.size(), std::size(texts));
  for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(rows[i].tolerance, texts[i]);
  EXPECT_EQ(rows[0].absolute_tolerance, 0);
  EXPECT_EQ(rows[0].relative_tolerance, 0);
  EXPECT_EQ(rows[1].absolute_tolerance, 1.5e-05);
  EXPECT_EQ(rows[1].relative_tolerance, 0.00098);
  for (const std::size_t i : {2u, 3u}) {
    EXPECT_EQ(rows[i].absolute_tolerance, std::nullopt) << texts[i];
    EXPECT_EQ(rows[i].relative_tolerance, std::nullopt) << texts[i];
  }
}

// What schema 3 lacks, and no other change.
TEST_F(OpenTest, AStoreOfSchema3KeepsItsVerifications) {
  {
    Store store = open();
    const Place place(store);
    place.compile(store, "{}", "e");
    ASSERT_TRUE(store.record(VerificationRow{.dispatch = place.dispatch,
                                             .identity = "e",
                                             .device = place.device,
                                             .right = true,
                                             .tolerance = "absolute 2, relative 0.25: why"}));
  }
  run_sql(kWithoutSchema4);
  EXPECT_THAT(open_error(Mode::kReadOnly), HasSubstr("made by an older hone (schema 3"));
  Store store = open();
  EXPECT_TRUE(store.check()->ok());
  const CandidateDetails details = *store.details(1);
  ASSERT_EQ(details.verifications.size(), 1u);
  EXPECT_EQ(details.verifications[0].tolerance, "absolute 2, relative 0.25: why");
  EXPECT_EQ(details.verifications[0].absolute_tolerance, 2);
  EXPECT_EQ(details.verifications[0].relative_tolerance, 0.25);
}

TEST_F(OpenTest, ReadingNeverWrites) {
  {
    Store store = open();
    Place(store).add(store, "{}");
  }
  const std::string before = *read_file(path_);
  Store store = open(Mode::kReadOnly);
  EXPECT_EQ(store.candidate_rows()->size(), 1u);
  const auto written = store.intern(some_dispatch(std::nullopt, "d2"));
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind, ErrorKind::kEnvironment);
  EXPECT_THAT(written.error().message, HasSubstr("cannot be written"));
  EXPECT_EQ(*read_file(path_), before);
}

TEST_F(OpenTest, AFileThatMayOnlyBeReadIsRefusedForWriting) {
  open();
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0777), 0);
  ASSERT_EQ(::chmod(path_.c_str(), 0444), 0);
  EXPECT_THAT(as_nobody([&] { return open_error(); }),
              HasSubstr("cannot be written: give write permission"));
}

TEST_F(OpenTest, AFileThatMayNotBeReadIsNamed) {
  open();
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0777), 0);
  ASSERT_EQ(::chmod(path_.c_str(), 0000), 0);
  EXPECT_THAT(
      as_nobody([&] { return open_error(Mode::kReadOnly); }),
      StartsWith("the store '" + path_.string() + "' or a file beside it cannot be opened"));
}

TEST_F(OpenTest, AStoreInAFolderThatCannotBeWrittenIsReadable) {
  {
    Store store = open();
    Place(store).add(store, "{}");
  }
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0555), 0);
  EXPECT_EQ(as_nobody([&] {
              Result<Store> store = Store::open(path_, Mode::kReadOnly);
              if (!store) return store.error().message;
              return fmt::format("{} candidate", store->candidate_rows()->size());
            }),
            "1 candidate");
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
}

TEST_F(OpenTest, DamagedPagesAreNamedAndNeverCrash) {
  {
    Store store = open();
    const Place place(store);
    for (int tile = 0; tile < 500; ++tile) place.compile(store, fmt::format("[{}]", tile), "e");
  }
  const std::string whole = *read_file(path_);
  int damaged = 0;
  for (std::size_t page = 0; page * 4096 < whole.size(); ++page) {
    std::string bytes = whole;
    // The first page keeps its header, so that the file still passes for a database.
    const std::size_t from = page == 0 ? 100 : page * 4096;
    for (std::size_t at = from; at < (page + 1) * 4096 && at < bytes.size(); ++at)
      bytes[at] = static_cast<char>(at * 131 + page);
    std::ofstream(path_, std::ios::binary) << bytes;
    Result<Store> store = Store::open(path_, Mode::kReadOnly);
    if (!store) {
      EXPECT_THAT(store.error().message, HasSubstr(path_.string()));
      ++damaged;
      continue;
    }
    const auto rows = store->candidate_rows();
    EXPECT_THAT(rows ? "hone store check" : rows.error().message, HasSubstr("hone store check"));
    const Result<CheckReport> report = store->check();
    ASSERT_TRUE(report) << report.error().message;
    if (!report->ok()) ++damaged;
  }
  EXPECT_EQ(damaged, static_cast<int>(whole.size() / 4096)) << "every page is looked at";
}

TEST(FileSystemTest, SharedFileSystemsAreKnownByTheirNumbers) {
  EXPECT_TRUE(is_shared_file_system(0x6969));                        // NFS
  EXPECT_TRUE(is_shared_file_system(0xff534d42));                    // CIFS
  EXPECT_TRUE(is_shared_file_system(static_cast<int>(0xff534d42)));  // where f_type is signed
  EXPECT_TRUE(is_shared_file_system(0x65735546));                    // FUSE
  EXPECT_FALSE(is_shared_file_system(0xef53));                       // ext4
  EXPECT_FALSE(is_shared_file_system(0x01021994));                   // tmpfs
  EXPECT_FALSE(is_shared_file_system(0x794c7630));                   // overlayfs
  EXPECT_FALSE(is_on_shared_file_system("/proc/self"));
}

}  // namespace
}  // namespace hone::store
