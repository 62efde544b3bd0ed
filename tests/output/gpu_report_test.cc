// What a tuning on a GPU is said to have come to, from rows with known numbers.
#include "output/gpu_report.h"

#include <gmock/gmock.h>

#include <map>

#include "base/file.h"
#include "output/measured_dispatch.h"
#include "output/session_report.h"

namespace hone::output {
namespace {

using store::Id;
using store::Phase;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

// matmul 1024x1024x1024 f16,f16->f32: 2^31 operations, 8 MiB bound. On a device of 200 TFLOP/s and
// 4 TB/s neither can be done in less than 2147483648 / 200e12 s = 10.73742 us; the bytes take 2.1.
class GpuReportTest : public testing::Test {
 protected:
  GpuReportTest() {
    build_ = *store_.intern(store::BuildRow{.compiler = "IREE", .flags = "[]", .target = "{}"});
    device_ =
        *store_.intern(store::DeviceRow{.name = "NVIDIA H200", .driver = "13", .protocol = "{}"});
    const Id operation = *store_.intern(store::OperationRow{
        .fingerprint = "op",
        .kind = "matmul",
        .description = "matmul 1024x1024x1024 f16,f16->f32",
        .json = R"({"operands":[{"type":{"element":"f16"}},{"type":{"element":"f16"}}]})",
        .flops = 2147483648.0,
        .bytes = 0});
    dispatch_ = *store_.intern(store::DispatchRow{
        .fingerprint = "d",
        .name = "main_dispatch_0",
        .operation = operation,
        .source = "source",
        .json = R"({"bindings":[{"bytes":2097152},{"bytes":2097152},{"bytes":4194304}]})"});
    program_ = *store_.intern(store::ProgramRow{.hash = "p", .path = "p.mlir", .json = "{}"});
    EXPECT_TRUE(store_.link_dispatch({program_, dispatch_, 0, 1}));
    fact(store::kPeakFact, 60e12);
    fact(store::kMatrixPeakFact, 150e12);
    fact(store::kStatedMatrixPeakFact, 200e12);
    fact(store::kBandwidthFact, 4e12);
  }

  void fact(std::string_view name, double value) {
    store::DeviceFact row;
    row.device = device_;
    row.name = name;
    row.value = value;
    EXPECT_TRUE(store_.record(row));
  }
  // By provider; all others are compilers.
  inline static const std::map<std::string, std::string> kTitles{
      {"openblas", "OpenBLAS"}, {"cublaslt", "cuBLASLt"}, {"tango", "TangoLib"}};
  // A candidate that is right (or not), measured in `phase`.
  Id candidate(const std::string& provider, const std::string& configuration, double seconds,
               Phase phase, double ratio, bool right = true, const std::string& machine = "{}") {
    const Id id = *store_.add_candidate({.dispatch = dispatch_,
                                         .build = build_,
                                         .provider = provider,
                                         .configuration = configuration});
    const auto library = kTitles.find(provider);
    const std::string identity =
        (library != kTitles.end() ? library->second + " 13.0.2, " : provider) + configuration;
    EXPECT_TRUE(store_.record(store::ArtifactRow{
        .candidate = id,
        .identity = identity,
        .format = library != kTitles.end() ? std::string(store::kLibraryFormat) : "f",
        .launch = "{}"}));
    EXPECT_TRUE(store_.record(store::VerificationRow{
        .dispatch = dispatch_, .identity = identity, .device = device_, .right = right}));
    if (right) {
      EXPECT_TRUE(store_.record(
          store::Measurement{.dispatch = dispatch_,
                             .identity = identity,
                             .device = device_,
                             .phase = phase,
                             .timing = {.samples = {seconds}, .min = seconds, .median = seconds},
                             .sentinel_ratio = ratio,
                             .machine = machine}));
    }
    return id;
  }
  void select(Id winner, double speedup) {
    EXPECT_TRUE(store_.record(store::SelectionRow{.dispatch = dispatch_,
                                                  .build = build_,
                                                  .device = device_,
                                                  .winner = winner,
                                                  .ties = {winner},
                                                  .speedup = speedup,
                                                  .speedup_low = speedup,
                                                  .speedup_high = speedup}));
  }
  GpuReport report(const std::map<Id, Spent>& spent = {}) {
    auto report = gpu_report(store_, program_, build_, device_, spent, {{"cublaslt", "cuBLASLt"}});
    EXPECT_TRUE(report) << report.error().message;
    return std::move(*report);
  }
  Table closing(const std::vector<LibraryColumn>& libraries = {{"openblas", "OpenBLAS"}}) {
    return dispatch_table(store_, program_, build_, device_, libraries).value();
  }
  nlohmann::json row(const std::map<Id, Spent>& spent = {}) {
    return report(spent).table.to_json().front();
  }

  TemporaryFolder folder_ = std::move(TemporaryFolder::create("hone-report-").value());
  store::Store store_ =
      std::move(store::Store::open(folder_.path() / "hone.db", store::Mode::kReadWrite).value());
  Id build_ = 0, device_ = 0, dispatch_ = 0, program_ = 0;
};

TEST_F(GpuReportTest, CountsCandidatesWithoutDefaultAndLibraries) {
  candidate("iree", "{}", 40e-6, Phase::kFinalist, 1);
  const Id winner = candidate("iree", R"({"tile":1})", 20e-6, Phase::kFinalist, 0.5);
  candidate("iree", R"({"tile":2})", 90e-6, Phase::kSearch, 2.25);
  candidate("iree", R"({"tile":3})", 0, Phase::kSearch, 0, /*right=*/false);
  candidate("cublaslt", R"({"choice":0})", 12e-6, Phase::kFinalist, 0.3);
  candidate("cublaslt", R"({"choice":1})", 0, Phase::kSearch, 0, /*right=*/false);
  select(winner, 2);
  const nlohmann::json shown = row();
  EXPECT_EQ(shown["tried"], 3);
  EXPECT_EQ(shown["compiled"], 3);
  EXPECT_EQ(shown["right"], 2);
  EXPECT_EQ(shown["wrong"], 1);
  EXPECT_EQ(shown["not_run"], 0);
  EXPECT_EQ(shown["best_seconds"], 20e-6);
  EXPECT_EQ(shown["worst_seconds"], 90e-6);
  const auto closed = closing().to_json().front();
  EXPECT_EQ(closed["tried"], 3);
  EXPECT_EQ(closed["verified"], 2);
}

// OpenBLAS has a column where it was measured: not on a GPU. 2^31 operations in 40 us are 53,687
// GFLOP/s.
TEST_F(GpuReportTest, TheClosingTableShowsOnlyTheLibraryThereIs) {
  candidate("iree", "{}", 40e-6, Phase::kFinalist, 1);
  EXPECT_THAT(closing().to_text(), Not(HasSubstr("OpenBLAS")));
  EXPECT_TRUE(closing().to_json().front().at("openblas_gflops").is_null());
  candidate("openblas", "{}", 40e-6, Phase::kFinalist, 1);
  EXPECT_THAT(closing().to_text(), HasSubstr("OpenBLAS"));
  EXPECT_NEAR(closing().to_json().front()["openblas_gflops"].get<double>(), 53687, 1);
}

// One that this folder has never heard of: its columns have its own name, and its rows are no
// candidates. Of several algorithms the fastest counts: 2^31 / 20 us = 107,374 GFLOP/s.
TEST_F(GpuReportTest, AnyLibraryHasColumnsOfItsName) {
  candidate("iree", "{}", 40e-6, Phase::kFinalist, 1);
  candidate("tango", R"({"choice":0})", 30e-6, Phase::kFinalist, 0.75);
  candidate("tango", R"({"choice":1})", 20e-6, Phase::kFinalist, 0.5);
  const Table table = closing({{"openblas", "OpenBLAS"}, {"tango", "TangoLib"}});
  EXPECT_THAT(table.to_text(), HasSubstr("TangoLib"));
  EXPECT_NEAR(table.to_json().front()["tango_gflops"].get<double>(), 107374, 1);
  EXPECT_EQ(table.to_json().front()["tried"], 0);
  const auto report = gpu_report(store_, program_, build_, device_, {}, {{"tango", "TangoLib"}});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_THAT(report->table.to_text(), HasSubstr("TangoLib first (/ best)  its best (/ best)"));
  EXPECT_EQ(report->table.to_json().front()["tango_best"]["seconds"], 20e-6);
}

// The library's time is compared with the tuned one by what each is to the default at its moment:
// 0.3 x 2 = 0.6 of the tuned time, whatever the clocks did between the two.
TEST_F(GpuReportTest, ComparesTheLibraryByRatiosToTheDefault) {
  candidate("iree", "{}", 40e-6, Phase::kFinalist, 1);
  const Id winner = candidate("iree", R"({"tile":1})", 20e-6, Phase::kFinalist, 0.5);
  candidate("cublaslt", R"({"choice":0})", 13e-6, Phase::kFinalist, 0.3);
  candidate("cublaslt", R"({"choice":5})", 11e-6, Phase::kFinalist, 0.25);
  candidate("cublaslt", R"({"choice":6})", 10e-6, Phase::kSearch, 0.2);
  select(winner, 2);
  const nlohmann::json shown = row();
  EXPECT_EQ(shown["cublaslt_first"]["seconds"], 13e-6);
  EXPECT_DOUBLE_EQ(shown["cublaslt_first"]["over_tuned"].get<double>(), 0.6);
  EXPECT_EQ(shown["cublaslt_best"]["seconds"], 11e-6);  // what was not run beside the winner is not
  EXPECT_EQ(shown["cublaslt_best"]["choice"]["choice"], 5);
}

TEST_F(GpuReportTest, WithoutALibraryItsCellsAreEmpty) {
  candidate("iree", "{}", 40e-6, Phase::kFinalist, 1);
  EXPECT_TRUE(row().at("cublaslt_first").is_null());
  EXPECT_THAT(report().table.to_text(), HasSubstr("-"));
}

TEST_F(GpuReportTest, TheRooflineIsTheLongerOfOperationsAndBytes) {
  candidate("iree", "{}", 21.47483648e-6, Phase::kFinalist, 1);
  EXPECT_DOUBLE_EQ(row()["share_of_roofline_percent"].get<double>(), 50);
}

TEST_F(GpuReportTest, IdleIsWhatIsLeftOfTheWallTime) {
  candidate("iree", "{}", 40e-6, Phase::kFinalist, 1);
  const nlohmann::json shown = row({{dispatch_, {20, 5}}});
  EXPECT_EQ(shown["wall_seconds"], 20);
  EXPECT_EQ(shown["idle_percent"], 75);
  EXPECT_TRUE(row()["idle_percent"].is_null());  // all was in the store
}

TEST_F(GpuReportTest, SaysWhereTheRooflineComesFromAndWhatHeldTheClockDown) {
  candidate("iree", "{}", 40e-6, Phase::kFinalist, 1, true,
            R"({"after":{"gpus":[{"gpu":0,"megahertz":1755,"most_megahertz":1980,"watts":698.5,
                "watt_limit":700,"throttled":["power cap"]}]}})");
  const GpuReport shown = report();
  EXPECT_THAT(
      shown.notes,
      ElementsAre("roofline: 200 TFLOP/s on 16-bit floats (multiprocessors x operations per "
                  "clock x highest clock; 150 measured with mma.sync, which is what IREE "
                  "emits), 60 TFLOP/s on f32 (measured), 4 TB/s of memory (measured: a "
                  "copy, read and write)",
                  "main_dispatch_0 ran at 1755 MHz of 1980, held down by: power cap (698 of "
                  "700 W)"));
  EXPECT_THAT(shown.table.to_text(), HasSubstr("1755 of 1980 MHz"));
}

TEST_F(GpuReportTest, AFullClockIsNoNews) {
  candidate(
      "iree", "{}", 40e-6, Phase::kFinalist, 1, true,
      R"({"after":{"gpus":[{"gpu":0,"megahertz":1980,"most_megahertz":1980,"throttled":[]}]}})");
  EXPECT_THAT(report().notes, SizeIs(1));
}

TEST(RooflineTest, IsJudgedByTheTypeAndKindOfTheRoot) {
  store::DispatchView row;
  row.kind = "convolution";
  row.input_type = "bf16";
  EXPECT_TRUE(runs_on_matrix_units(row));
  row.kind = "reduction";
  EXPECT_FALSE(runs_on_matrix_units(row));
  row.kind = "matmul";
  row.input_type = "f32";
  EXPECT_FALSE(runs_on_matrix_units(row));
  // 4e9 bytes at 4 TB/s, no operations.
  row.bound_bytes = 4e9;
  EXPECT_EQ(roofline_seconds(row, {.f32 = 60e12, .bandwidth = 4e12}), 1e-3);
  EXPECT_EQ(roofline_seconds(row, {.f32 = 60e12}), std::nullopt);
}

}  // namespace
}  // namespace hone::output
