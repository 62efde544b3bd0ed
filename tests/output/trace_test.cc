// The trace of a store whose rows have known numbers.
#include <gmock/gmock.h>

#include <map>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "output/trace_file.h"
#include "trial/timeline.h"

namespace hone::output {
namespace {

using store::Id;
using store::Phase;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;
using trial::Activity;

// Slices of a thread as {name, begin, duration} in microseconds.
using Row = std::tuple<std::string, std::int64_t, std::int64_t>;

class Trace : public testing::Test {
 protected:
  Trace() {
    build_ = *store_.intern(store::BuildRow{.compiler = "IREE", .flags = "[]", .target = "{}"});
    device_ = *store_.intern(store::DeviceRow{.name = "CPU", .driver = "6.1", .protocol = "{}"});
    const Id operation = *store_.intern(store::OperationRow{
        .fingerprint = "op", .kind = "matmul", .description = "matmul 8x8x8", .json = "{}"});
    dispatch_ = *store_.intern(store::DispatchRow{.fingerprint = "d",
                                                  .name = "main_dispatch_0",
                                                  .operation = operation,
                                                  .source = "source",
                                                  .json = "{}"});
    program_ = *store_.intern(store::ProgramRow{.hash = "p", .path = "in/net.mlir", .json = "{}"});
    EXPECT_TRUE(store_.link_dispatch({program_, dispatch_, 0, 2}));
    run_ =
        *store_.begin_run({.command = "hone tune net.mlir", .version = "1", .program = program_});
  }

  Id add(const std::string& configuration) {
    return *store_.add_candidate({.dispatch = dispatch_,
                                  .build = build_,
                                  .provider = "iree",
                                  .configuration = configuration});
  }
  Id measured(const std::string& configuration, double seconds, Phase phase) {
    const Id id = add(configuration);
    EXPECT_TRUE(store_.record(store::ArtifactRow{
        .candidate = id, .identity = configuration, .format = "f", .launch = "{}"}));
    EXPECT_TRUE(store_.record(store::VerificationRow{
        .dispatch = dispatch_, .identity = configuration, .device = device_, .right = true}));
    EXPECT_TRUE(store_.record(store::Measurement{.dispatch = dispatch_,
                                                 .identity = configuration,
                                                 .device = device_,
                                                 .phase = phase,
                                                 .timing = {.samples = {seconds},
                                                            .min = seconds,
                                                            .median = seconds,
                                                            .low = seconds,
                                                            .high = seconds}}));
    return id;
  }
  void timed(const std::string& variant, const std::string& spec, double seconds, double ratio) {
    EXPECT_TRUE(store_.record(store::ProgramMeasurement{
        .program = program_,
        .build = build_,
        .device = device_,
        .variant = variant,
        .spec = spec,
        .timing = {.samples = {seconds}, .min = seconds, .median = seconds},
        .ratio = ratio,
        .verdict = "faster"}));
  }
  void log(const trial::Timeline& timeline) {
    EXPECT_TRUE(store_.log_event(store::kTimelineEvent, nlohmann::json(timeline).dump()));
    EXPECT_TRUE(store_.end_run(store::RunState::kFinished));
  }

  Json trace() {
    const Result<Json> trace = trace_of(store_);
    EXPECT_TRUE(trace) << trace.error().message;
    return trace.value_or(Json());
  }

  // By "process/thread".
  static std::map<std::string, std::vector<Row>> slices(const Json& trace) {
    std::map<int, std::string> processes, threads;
    std::map<std::string, std::vector<Row>> slices;
    for (const Json& event : trace.at("traceEvents")) {
      const int pid = event.at("pid"), tid = event.at("tid");
      if (event.at("name") == "process_name")
        processes[pid] = event.at("args").at("name");
      else if (event.at("name") == "thread_name")
        threads[tid] = processes.at(pid) + "/" + event.at("args").at("name").get<std::string>();
      else if (event.at("ph") == "X")
        slices[threads.at(tid)].emplace_back(event.at("name"), event.at("ts"), event.at("dur"));
    }
    return slices;
  }

  TemporaryFolder folder_ = std::move(TemporaryFolder::create("hone-trace-").value());
  store::Store store_ =
      std::move(store::Store::open(folder_.path() / "a.db", store::Mode::kReadWrite).value());
  Id build_ = 0, device_ = 0, dispatch_ = 0, program_ = 0, run_ = 0;
};

TEST_F(Trace, DrawsPhasesRoundsAndCompiles) {
  const Id first = add(R"({"tile":1})"), second = add(R"({"tile":2})"),
           third = add(R"({"tile":4})");
  log({.stretches = {{Activity::kSplit, 1},
                     {Activity::kOther, 1.25},
                     {Activity::kWait, 2},
                     {Activity::kMeasure, 3.5, "3 kernels"},
                     {Activity::kProgram, 5},
                     {Activity::kProgram, 7, "round 1 of 1"}},
       .compiles = {{second, 1.5, 0.25, true, {}},
                    {first, 1.25, 0.5, false, {0.125, 0.25, 0.0625, 0}},
                    {third, 1.75, 0.25, false, {0, 0.25, 0, 0}}},
       .jobs = {{"load_program", 0, 1}}});
  const Json document = trace();
  const auto found = slices(document);
  const std::string run = "run 1: hone tune net.mlir/";
  EXPECT_THAT(found.at(run + "tuner"),
              ElementsAre(Row("split", 0, 1'000'000), Row("search and store", 1'000'000, 250'000)));
  EXPECT_THAT(found.at(run + "waits"), ElementsAre(Row("wait for compiles", 1'250'000, 750'000)));
  EXPECT_THAT(
      found.at(run + "device"),
      ElementsAre(Row("measure", 2'000'000, 1'500'000), Row("3 kernels", 2'000'000, 1'500'000),
                  Row("program", 3'500'000, 1'500'000), Row("program", 5'000'000, 2'000'000),
                  Row("round 1 of 1", 5'000'000, 2'000'000)));
  // The third begins as the first ends. 0.5 - 0.125 - 0.25 - 0.0625 = 0.0625 s are left.
  EXPECT_THAT(
      found.at(run + "compile worker 1"),
      ElementsAre(Row("load_program", 0, 1'000'000), Row("candidate 1", 1'250'000, 500'000),
                  Row("fork and answer", 1'250'000, 62'500), Row("configure", 1'312'500, 125'000),
                  Row("translate", 1'437'500, 250'000), Row("serialize", 1'687'500, 62'500),
                  Row("candidate 3", 1'750'000, 250'000), Row("translate", 1'750'000, 250'000)));
  EXPECT_THAT(found.at(run + "compile worker 2"),
              ElementsAre(Row("candidate 2", 1'500'000, 250'000)));
  EXPECT_EQ(found.size(), 6u);  // and "run"
  for (const Json& event : document.at("traceEvents"))
    if (event.at("name") == "candidate 2") {
      EXPECT_EQ(event.at("args"), Json({{"candidate", second},
                                        {"failed", true},
                                        {"dispatch", "main_dispatch_0"},
                                        {"provider", "iree"},
                                        {"configuration", R"({"tile":2})"},
                                        {"state", "untried"}}));
    }
}

// Two launches in a call: of 4 ms before, of 1 ms with what the spec ships.
TEST_F(Trace, DrawsTheLaunchesBeforeAndAfter) {
  measured("{}", 4e-3, Phase::kSentinel);
  const Id winner = measured(R"({"tile":8})", 1e-3, Phase::kFinalist);
  EXPECT_TRUE(store_.record(store::SelectionRow{.dispatch = dispatch_,
                                                .build = build_,
                                                .device = device_,
                                                .winner = winner,
                                                .ties = {winner},
                                                .speedup = 4,
                                                .speedup_low = 3.9,
                                                .speedup_high = 4.1,
                                                .shipped = true}));
  timed("default", "", 10e-3, 1);
  timed("spec", "// a spec", 5e-3, 0.5);
  log({.stretches = {{Activity::kProgram, 2}}});
  const auto found = slices(trace());
  const std::string before = "run 1: a call of net.mlir, default: 10 ms/",
                    after = "run 1: a call of net.mlir, spec: 5 ms/";
  EXPECT_THAT(found.at(before + "call"), ElementsAre(Row("default", 0, 10'000)));
  EXPECT_THAT(found.at(before + "launches"), ElementsAre(Row("main_dispatch_0", 0, 8'000)));
  EXPECT_THAT(found.at(after + "call"), ElementsAre(Row("spec", 0, 5'000)));
  EXPECT_THAT(found.at(after + "launches"), ElementsAre(Row("main_dispatch_0", 0, 2'000)));
}

TEST_F(Trace, SaysThatAKilledRunHasNoTimeline) {
  const Json document = trace();
  const auto found = slices(document);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(std::get<0>(found.at("run 1: hone tune net.mlir/run").at(0)), "running");
  EXPECT_THAT(document.dump(), HasSubstr("none: the run was killed, or an older hone made it"));
}

TEST_F(Trace, RefusesATimelineThatMeansNothing) {
  EXPECT_TRUE(store_.log_event(
      store::kTimelineEvent, R"({"phases":["split"],"session":[[1,5]],"compiles":[],"jobs":[]})"));
  const Result<Json> trace = trace_of(store_);
  ASSERT_FALSE(trace);
  EXPECT_EQ(trace.error().kind, ErrorKind::kInput);
  EXPECT_THAT(trace.error().message, HasSubstr("there is no phase 1"));
}

TEST_F(Trace, OfAStoreWithoutRunsIsRefused) {
  auto empty = store::Store::open(folder_.path() / "b.db", store::Mode::kReadWrite);
  ASSERT_TRUE(empty);
  const Result<Json> trace = trace_of(*empty);
  ASSERT_FALSE(trace);
  EXPECT_THAT(trace.error().message, HasSubstr("holds no run"));
}

}  // namespace
}  // namespace hone::output
