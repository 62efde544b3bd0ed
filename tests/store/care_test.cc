// Checking, merging and collecting garbage.
#include <gmock/gmock.h>
#include <sqlite3.h>

#include "tests/store/fixture.h"

namespace hone::store {
namespace {

using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

class CareTest : public StoreTest {
 protected:
  void run_sql(const char* sql) {
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open(path_.c_str(), &handle), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(handle, sql, nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(handle);
  }
  // A default, a winner that ties with another, and a loser, each with a run's rows around it.
  void fill(Store& store, std::string_view command) {
    const Place place(store);
    const Id program = *store.intern(ProgramRow{.hash = "p", .path = "a.mlir", .json = "{}"});
    ASSERT_TRUE(store.link_dispatch({program, place.dispatch, 0, 1}));
    ASSERT_TRUE(
        store.begin_run({.command = std::string(command), .version = "0.1.0", .program = program}));
    ASSERT_TRUE(store.log_event("start", command));
    std::vector<Id> candidates;
    for (const char* configuration : {"{}", "[1]", "[2]", "[3]"}) {
      const std::string identity = fmt::format("e{}", configuration);
      candidates.push_back(place.compile(store, configuration, identity));
      place.verify(store, identity, true);
      place.measure(store, identity, 0.002, Phase::kSearch);
    }
    ASSERT_TRUE(store.record(FailureRow{
        .candidate = place.add(store, "[4]"), .kind = "compile error", .message = "no"}));
    ASSERT_TRUE(store.record(SelectionRow{.dispatch = place.dispatch,
                                          .build = place.build,
                                          .device = place.device,
                                          .winner = candidates[1],
                                          .ties = {candidates[1], candidates[2]},
                                          .speedup = 1.5}));
    ASSERT_TRUE(store.record(ProgramMeasurement{.program = program,
                                                .build = place.build,
                                                .device = place.device,
                                                .variant = "spec",
                                                .spec = "module {}",
                                                .timing = some_timing(0.004)}));
    ASSERT_TRUE(store.record(DeviceFact{.device = place.device, .name = "peak", .value = 1}));
    ASSERT_TRUE(store.try_lease("compile/1", "a", std::chrono::hours(1)));
    ASSERT_TRUE(store.end_run(RunState::kFinished));
  }
};

TEST_F(CareTest, CheckFindsMissingRowsAndBlobsThatChanged) {
  {
    Store store = open();
    fill(store, "hone tune a.mlir");
    EXPECT_TRUE(store.check()->ok());
  }
  run_sql(
      "UPDATE blob SET zstd = (SELECT zstd FROM blob WHERE id = 2) WHERE id = 1;"
      "DELETE FROM run");
  Store store = open(Mode::kReadOnly);
  const CheckReport report = *store.check();
  EXPECT_FALSE(report.ok());
  EXPECT_THAT(report.damage, Contains("blob 1 is not what was stored"));
  EXPECT_THAT(report.damage, Contains(HasSubstr("refers to a row of run that is not there")));
  EXPECT_THAT(store.dispatch(1).error().message, HasSubstr("is damaged (blob 1 is not"));
}

TEST_F(CareTest, AMissingTableIsDamage) {
  open();
  run_sql("DROP TABLE measurement");
  Store store = open();
  EXPECT_THAT(store.check()->damage, Contains("measurement.samples is missing"));
  EXPECT_THAT(store.candidate_rows().error().message,
              HasSubstr("is damaged (no such table: measurement); 'hone store check"));
}

TEST_F(CareTest, MergingAddsWhatIsNotThereAndTwiceChangesNothing) {
  const std::filesystem::path other = folder_.path() / "other.db";
  {
    // Rows in another order, so that ids differ in the two files.
    Store store = *Store::open(other, Mode::kReadWrite);
    const Id first = *store.intern(some_dispatch(std::nullopt, "d0"));
    const Id build = *store.intern(BuildRow{.compiler = "other", .flags = "[]", .target = "{}"});
    ASSERT_TRUE(store.add_candidate(
        {.dispatch = first, .build = build, .provider = "iree", .configuration = "{}"}));
    fill(store, "hone tune there");
  }
  Store store = open();
  fill(store, "hone tune here");
  const MergeReport added = *store.merge({other});
  EXPECT_THAT(added, Contains(Pair("dispatch", 1)));
  EXPECT_THAT(added, Contains(Pair("candidate", 1)));
  EXPECT_THAT(added, Contains(Pair("artifact", 0)));
  EXPECT_THAT(added, Contains(Pair("run", 1)));
  EXPECT_THAT(added, Contains(Pair("event", 1)));
  EXPECT_THAT(added, Contains(Pair("measurement", 4)));
  EXPECT_THAT(added, Contains(Pair("selection", 1)));
  EXPECT_THAT(added, Contains(Pair("selection_tie", 2)));
  EXPECT_TRUE(store.check()->ok());

  const MergeReport again = *store.merge({other});
  EXPECT_THAT(again, Each(Pair(testing::_, 0)));

  // The other store's winner is this store's candidate of the same configuration.
  const std::vector<SelectionRow> selections = *store.selections();
  ASSERT_EQ(selections.size(), 2u);
  EXPECT_EQ(selections[0].winner, selections[1].winner);
  EXPECT_EQ(selections[0].ties, selections[1].ties);
  const std::vector<store::Run> runs = *store.runs();
  EXPECT_EQ(runs[0].command, "hone tune there");
  EXPECT_EQ(store.events(runs[0].id)->front().text, "hone tune there");
  EXPECT_EQ(store.program_measurements(*runs[0].program)->size(), 2u);
  const Id first = *store.intern(some_dispatch(std::nullopt, "d0"));
  EXPECT_EQ(store.dispatch(first)->source, "hal.executable.source @d0");
}

TEST_F(CareTest, AnEmptyStoreMergedWithAnotherHasAllOfIt) {
  const std::filesystem::path other = folder_.path() / "other.db";
  {
    Store store = *Store::open(other, Mode::kReadWrite);
    fill(store, "hone tune there");
  }
  Store store = open();
  ASSERT_TRUE(store.merge({other}));
  EXPECT_EQ(store.candidate_rows()->size(), 5u);
  const DispatchView row = store.dispatch_rows()->front();
  EXPECT_EQ(row.speedup, 1.5);
  EXPECT_EQ(store.load_artifact(row.best->candidate)->code, "code of e[1]");
  EXPECT_TRUE(store.leases()->empty()) << "leases are of running processes";
}

TEST_F(CareTest, MergingRefusesItselfAndWhatIsNoStore) {
  Store store = open();
  EXPECT_THAT(store.merge({path_}).error().message, HasSubstr("is the store to merge into"));
  EXPECT_THAT(store.merge({folder_.path() / "none.db"}).error().message,
              HasSubstr("there is no store"));
}

TEST_F(CareTest, GarbageIsTheCodeThatNobodyNeeds) {
  Store store = open();
  fill(store, "hone tune a.mlir");
  EXPECT_GE(*store.gc(), 0);
  EXPECT_TRUE(store.check()->ok());
  const Place place(store);
  const auto code_of = [&](const char* configuration) {
    const auto candidate =
        *store.find_candidate(place.dispatch, place.build, "iree", configuration);
    const Result<ArtifactRow> artifact = store.load_artifact(*candidate);
    return artifact ? artifact->code : artifact.error().message;
  };
  EXPECT_EQ(code_of("{}"), "code of e{}") << "the default";
  EXPECT_EQ(code_of("[1]"), "code of e[1]") << "the winner";
  EXPECT_EQ(code_of("[2]"), "code of e[2]") << "of the tie set";
  EXPECT_THAT(code_of("[3]"), HasSubstr("was removed from the store"));
  EXPECT_EQ(store.dispatch(place.dispatch)->source, "hal.executable.source @d1");
  EXPECT_EQ(store.program_measurements(1)->front().spec, "module {}");

  place.compile(store, "[3]", "e[3]");
  EXPECT_EQ(code_of("[3]"), "code of e[3]") << "compiled again";
}

}  // namespace
}  // namespace hone::store
