// What reports and exports read.
#include <gmock/gmock.h>

#include "store/export.h"
#include "tests/store/fixture.h"

namespace hone::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

class ViewsTest : public StoreTest {
 protected:
  void fail(Id candidate, std::string_view kind, std::optional<Id> device = {}) {
    EXPECT_TRUE(store_.record(FailureRow{.candidate = candidate,
                                         .device = device,
                                         .kind = std::string(kind),
                                         .message = "words of " + std::string(kind)}));
  }
  CandidateView row_of(Id candidate) {
    return store_.candidate_rows({.candidate = candidate})->front();
  }

  Store store_ = open();
  Place place_{store_};
};

TEST_F(ViewsTest, ACandidateGoesThroughItsStates) {
  const Id candidate = place_.add(store_, "[1]");
  EXPECT_EQ(row_of(candidate).state, CandidateState::kUntried);
  EXPECT_EQ(row_of(candidate).device, std::nullopt);
  place_.compile(store_, "[1]", "e1");
  EXPECT_EQ(row_of(candidate).state, CandidateState::kCompiled);
  EXPECT_EQ(row_of(candidate).compile_seconds, 0.25);
  place_.verify(store_, "e1", true);
  EXPECT_EQ(row_of(candidate).state, CandidateState::kVerified);
  EXPECT_EQ(row_of(candidate).device, place_.device);
  place_.measure(store_, "e1", 0.002, Phase::kSearch, 0.5);
  const CandidateView row = row_of(candidate);
  EXPECT_EQ(row.state, CandidateState::kMeasured);
  EXPECT_EQ(row.median_seconds, 0.002);
  EXPECT_EQ(row.samples, 3);
  EXPECT_EQ(row.flops_per_second, 268435456 / 0.002);
  EXPECT_EQ(row.sentinel_ratio, 0.5);
}

TEST_F(ViewsTest, FailuresAndWrongResultsAreTheirOwnStates) {
  const Id rejected = place_.add(store_, "[1]");
  fail(rejected, "compile error");
  const Id wrong = place_.compile(store_, "[2]", "e2");
  place_.verify(store_, "e2", false);
  const Id crashed = place_.compile(store_, "[3]", "e3");
  place_.verify(store_, "e3", true);
  fail(crashed, "kernel crash", place_.device);
  const Id also_wrong = place_.compile(store_, "[4]", "e4");
  fail(also_wrong, "wrong", place_.device);

  EXPECT_EQ(row_of(rejected).state, CandidateState::kFailed);
  EXPECT_EQ(row_of(rejected).failure_kind, "compile error");
  EXPECT_EQ(row_of(rejected).failure_message, "words of compile error");
  EXPECT_EQ(row_of(wrong).state, CandidateState::kWrong);
  EXPECT_EQ(row_of(wrong).share_bad, 0.5);
  EXPECT_EQ(row_of(crashed).state, CandidateState::kFailed);
  EXPECT_EQ(row_of(crashed).failure_kind, "kernel crash");
  EXPECT_EQ(row_of(also_wrong).state, CandidateState::kWrong);
}

TEST_F(ViewsTest, TheBestPhaseIsShownWhateverCameLast) {
  const Id candidate = place_.compile(store_, "[1]", "e1");
  place_.verify(store_, "e1", true);
  place_.measure(store_, "e1", 0.004, Phase::kSentinel);
  EXPECT_EQ(row_of(candidate).phase, "sentinel");
  place_.measure(store_, "e1", 0.003, Phase::kFinalist);
  place_.measure(store_, "e1", 0.001, Phase::kSearch);
  place_.measure(store_, "e1", 0.009, Phase::kOwnRuntime);
  EXPECT_EQ(row_of(candidate).phase, "finalist");
  EXPECT_EQ(row_of(candidate).median_seconds, 0.003);
}

TEST_F(ViewsTest, ADispatchCountsItsCandidatesByWhatBecameOfThem) {
  place_.compile(store_, "{}", "e0");
  place_.verify(store_, "e0", true);
  place_.measure(store_, "e0", 0.003, Phase::kSearch);
  const Id fast = place_.compile(store_, "[1]", "e1");
  place_.verify(store_, "e1", true);
  place_.measure(store_, "e1", 0.002, Phase::kSearch);
  place_.compile(store_, "[2]", "e2");  // faster, but wrong
  place_.verify(store_, "e2", false);
  place_.measure(store_, "e2", 0.001, Phase::kSearch);
  fail(place_.add(store_, "[3]"), "compile error");
  fail(place_.add(store_, "[4]"), "compile error");
  fail(place_.add(store_, "[5]"), "not applied");
  place_.add(store_, "[6]");

  const std::vector<DispatchView> rows = *store_.dispatch_rows();
  ASSERT_EQ(rows.size(), 1u);
  const DispatchView& row = rows[0];
  EXPECT_EQ(row.name, "main_dispatch_0_matmul_512x512x512_f32");
  EXPECT_EQ(row.operation, "matmul 512x512x512 f32,f32->f32");
  EXPECT_EQ(row.flops, 268435456);
  EXPECT_EQ(row.candidates, 7);
  EXPECT_EQ(row.tried, 6);
  EXPECT_EQ(row.compiled, 3);
  EXPECT_EQ(row.right, 2);
  EXPECT_EQ(row.wrong, 1);
  EXPECT_EQ(row.measured, 2);
  EXPECT_THAT(row.failed, UnorderedElementsAre(Pair("compile error", 2), Pair("not applied", 1)));
  EXPECT_EQ(row.best->candidate, fast);
  EXPECT_EQ(row.default_row->configuration, "{}");
  EXPECT_DOUBLE_EQ(*row.speedup, 1.5);
  EXPECT_EQ(row.speedup_low, std::nullopt);
}

TEST_F(ViewsTest, ALuckySampleOfTheSearchDoesNotBeatTheFinalists) {
  place_.compile(store_, "{}", "e0");
  place_.verify(store_, "e0", true);
  place_.measure(store_, "e0", 0.003, Phase::kSentinel);
  const Id finalist = place_.compile(store_, "[1]", "e1");
  place_.verify(store_, "e1", true);
  place_.measure(store_, "e1", 0.002, Phase::kFinalist, 0.625);
  place_.compile(store_, "[2]", "e2");
  place_.verify(store_, "e2", true);
  place_.measure(store_, "e2", 0.001, Phase::kSearch, 0.5);
  const DispatchView row = store_.dispatch_rows()->front();
  EXPECT_EQ(row.best->candidate, finalist);
  EXPECT_DOUBLE_EQ(*row.speedup, 1.6) << "by the sentinel, measured at the same time";
}

TEST_F(ViewsTest, TheNewestSelectionDecides) {
  place_.compile(store_, "{}", "e0");
  place_.verify(store_, "e0", true);
  place_.measure(store_, "e0", 0.003, Phase::kFinalist);
  const Id fastest = place_.compile(store_, "[1]", "e1");
  place_.verify(store_, "e1", true);
  place_.measure(store_, "e1", 0.00199, Phase::kFinalist);
  const Id tied = place_.compile(store_, "[2]", "e2");
  place_.verify(store_, "e2", true);
  place_.measure(store_, "e2", 0.002, Phase::kFinalist);
  for (const Id winner : {fastest, tied})
    ASSERT_TRUE(store_.record(SelectionRow{.dispatch = place_.dispatch,
                                           .build = place_.build,
                                           .device = place_.device,
                                           .winner = winner,
                                           .ties = {fastest, tied},
                                           .speedup = 1.49,
                                           .speedup_low = 1.45,
                                           .speedup_high = 1.53,
                                           .shipped = true,
                                           .reason = "smallest tiles of the tie set"}));
  const DispatchView row = store_.dispatch_rows()->front();
  EXPECT_EQ(row.best->candidate, tied);
  EXPECT_EQ(row.speedup, 1.49);
  EXPECT_EQ(row.speedup_low, 1.45);
  EXPECT_EQ(row.speedup_high, 1.53);
  EXPECT_THAT(row.selection->ties, ElementsAre(fastest, tied));
}

TEST_F(ViewsTest, RowsArePerBuildAndDevice) {
  place_.compile(store_, "{}", "e0");
  place_.verify(store_, "e0", true);
  Place elsewhere = place_;
  elsewhere.device = *store_.intern(DeviceRow{.name = "other", .driver = "1", .protocol = "{}"});
  elsewhere.verify(store_, "e0", true);
  Place tiled = place_;
  BuildRow build = some_build();
  build.flags = R"(["--iree-opt-data-tiling"])";
  tiled.build = *store_.intern(build);
  tiled.add(store_, "{}");
  const Id untouched = *store_.intern(some_dispatch(std::nullopt, "d2"));

  EXPECT_EQ(store_.dispatch_rows()->size(), 4u);
  EXPECT_EQ(store_.dispatch_rows({.dispatch = untouched})->front().candidates, 0);
  EXPECT_EQ(store_.dispatch_rows({.build = tiled.build})->size(), 1u);
  EXPECT_EQ(store_.candidate_rows({.build = place_.build, .device = elsewhere.device})->size(), 1u);

  const Id program = *store_.intern(ProgramRow{.hash = "p", .path = "a.mlir", .json = "{}"});
  ASSERT_TRUE(store_.link_dispatch({program, place_.dispatch, 0, 1}));
  EXPECT_EQ(store_.dispatch_rows({.program = program})->size(), 3u);
  EXPECT_EQ(store_.candidate_rows({.program = program})->size(), 3u);
}

TEST_F(ViewsTest, DetailsAreEverythingOfACandidate) {
  const Id candidate = place_.compile(store_, "[1]", "e1");
  const Id twin = place_.compile(store_, "[2]", "e1");
  place_.compile(store_, "[3]", "e3");
  fail(candidate, "kernel timeout", place_.device);
  place_.verify(store_, "e1", true);
  place_.measure(store_, "e1", 0.002, Phase::kSearch);
  place_.measure(store_, "e1", 0.003, Phase::kFinalist);
  place_.measure(store_, "e3", 0.004, Phase::kFinalist);

  const CandidateDetails details = *store_.details(candidate);
  EXPECT_EQ(details.candidate.configuration, "[1]");
  EXPECT_EQ(details.dispatch.source, "hal.executable.source @d1");
  EXPECT_EQ(details.operation->kind, "matmul");
  EXPECT_EQ(details.build.compiler, "iree-compile 3.13.0");
  EXPECT_EQ(details.artifact->identity, "e1");
  ASSERT_EQ(details.failures.size(), 1u);
  EXPECT_EQ(details.failures[0].kind, "kernel timeout");
  EXPECT_EQ(details.verifications.size(), 1u);
  ASSERT_EQ(details.measurements.size(), 2u);
  EXPECT_EQ(details.measurements[1].timing.samples, some_timing(0.003).samples);
  ASSERT_EQ(details.devices.size(), 1u);
  EXPECT_EQ(details.devices[0].name, "AMD EPYC 9655");
  EXPECT_THAT(details.equal_code, ElementsAre(twin));
  EXPECT_THAT(store_.details(999).error().message, HasSubstr("no candidate 999"));

  const CandidateDetails untried = *store_.details(place_.add(store_, "[4]"));
  EXPECT_FALSE(untried.artifact);
  EXPECT_THAT(untried.measurements, IsEmpty());
}

TEST(ExportTest, CsvAndJsonHaveTheSameColumns) {
  CandidateView row{.candidate = 7,
                    .dispatch = 2,
                    .dispatch_name = "main_dispatch_0",
                    .operation = "matmul 8x8x8 f32,f32->f32",
                    .build = 1,
                    .compiler = "iree-compile 3.13.0",
                    .flags = R"(["-a","-b"])",
                    .device = 3,
                    .device_name = "EPYC",
                    .provider = "iree",
                    .configuration = R"({"tile_m":64})",
                    .constraint_set = "llvm-cpu",
                    .state = CandidateState::kMeasured,
                    .identity = "e5",
                    .configured = "a \"b\"\nc",
                    .compile_seconds = 0.25,
                    .right = true,
                    .share_bad = 0.0,
                    .tolerance = "exact",
                    .rules = 2,
                    .reference = "artifact",
                    .phase = "finalist",
                    .samples = 3,
                    .min_seconds = 0.001,
                    .median_seconds = 0.1 + 0.2,
                    .low_seconds = 0.25,
                    .high_seconds = 0.5,
                    .spread = 0.125,
                    .sentinel_ratio = 0.625,
                    .flops_per_second = 1024,
                    .when = "2026-01-31T12:00:00.123Z"};
  CandidateView bare;
  bare.candidate = 8;
  EXPECT_EQ(
      export_csv({row, bare}),
      "candidate,dispatch,dispatch_name,operation,build,compiler,flags,device,device_name,"
      "provider,configuration,default,constraint_set,state,failure_kind,failure_message,identity,"
      "configured,compile_seconds,right,bad_index,share_bad,tolerance,verification_rules,reference,"
      "phase,samples,min_seconds,median_seconds,low_seconds,high_seconds,spread,sentinel_ratio,"
      "flops_per_second,created\n"
      "7,2,main_dispatch_0,\"matmul 8x8x8 f32,f32->f32\",1,iree-compile 3.13.0,"
      "\"[\"\"-a\"\",\"\"-b\"\"]\",3,EPYC,iree,\"{\"\"tile_m\"\":64}\",false,llvm-cpu,measured,,,"
      "e5,\"a \"\"b\"\"\nc\",0.25,true,,0.0,exact,2,artifact,finalist,3,0.001,0.30000000000000004,"
      "0.25,0.5,"
      "0.125,0.625,1024.0,2026-01-31T12:00:00.123Z\n"
      "8,0,,,0,,,,,,,false,,untried,,,,,,,,,,,,,,,,,,,,,\n");

  const auto json = export_json({row, bare});
  EXPECT_EQ(json["schema_version"], 1);
  EXPECT_EQ(json["columns"].size(), candidate_columns().size());
  EXPECT_EQ(json["columns"][0], "candidate");
  EXPECT_EQ(json["candidates"][0]["median_seconds"], 0.1 + 0.2);
  EXPECT_EQ(json["candidates"][0]["configured"], "a \"b\"\nc");
  EXPECT_TRUE(json["candidates"][1]["right"].is_null());
  for (const auto& candidate : json["candidates"]) {
    EXPECT_EQ(candidate.size(), json["columns"].size());
    for (const auto& column : json["columns"])
      EXPECT_TRUE(candidate.contains(column.get<std::string>()));
  }
}

}  // namespace
}  // namespace hone::store
