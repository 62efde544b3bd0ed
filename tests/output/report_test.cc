// What the HTML report says, from a store whose rows have known numbers.
#include <gmock/gmock.h>

#include "base/file.h"
#include "output/report_page.h"

namespace hone::output {
namespace {

using nlohmann::ordered_json;
using store::Id;
using store::Phase;
using testing::HasSubstr;
using testing::Not;

// matmul 128x128x128 f32: 2 * 128^3 = 4194304 operations, 3 * 65536 = 196608 bytes bound, so
// 21.3333 operations per byte. On 1 TFLOP/s and 100 GB/s it takes at least 4.194304 us.
class ReportTest : public testing::Test {
 protected:
  ReportTest() {
    build_ = *store_.intern(store::BuildRow{
        .compiler = "IREE", .flags = R"(["--a"])", .target = R"({"cpu":"znver5"})"});
    device_ = *store_.intern(store::DeviceRow{
        .name = "AMD EPYC", .driver = "6.1", .protocol = R"({"threads":2,"cache":"warm"})"});
    const Id operation =
        *store_.intern(store::OperationRow{.fingerprint = "op",
                                           .kind = "matmul",
                                           .description = "matmul 128x128x128 f32,f32->f32",
                                           .json = R"({"operands":[{"type":{"element":"f32"}}]})",
                                           .flops = 4194304,
                                           .bytes = 0});
    dispatch_ = *store_.intern(store::DispatchRow{
        .fingerprint = "d",
        .name = "main_dispatch_0",
        .operation = operation,
        .source = "source",
        .json = R"({"bindings":[{"bytes":65536},{"bytes":65536},{"bytes":65536}]})"});
    fact(store::kPeakFact, 1e12);
    fact(store::kBandwidthFact, 100e9);
    run_ = *store_.begin_run({.command = "hone tune p.mlir --quiet", .version = "1", .seed = 7});
  }

  void fact(std::string_view name, double value) {
    store::DeviceFact row;
    row.device = device_;
    row.name = name;
    row.value = value;
    EXPECT_TRUE(store_.record(row));
  }
  Id add(const std::string& configuration, const std::string& provider = "iree") {
    return *store_.add_candidate({.dispatch = dispatch_,
                                  .build = build_,
                                  .provider = provider,
                                  .configuration = configuration,
                                  .constraint_set = "rules"});
  }
  void measure(const std::string& identity, double seconds, Phase phase, double ratio) {
    EXPECT_TRUE(store_.record(store::Measurement{.dispatch = dispatch_,
                                                 .identity = identity,
                                                 .device = device_,
                                                 .phase = phase,
                                                 .timing = {.samples = {seconds},
                                                            .min = seconds,
                                                            .median = seconds,
                                                            .low = 0.9 * seconds,
                                                            .high = 1.1 * seconds},
                                                 .sentinel_ratio = ratio}));
  }
  // Right, and measured in the search.
  Id measured(const std::string& configuration, double seconds, double ratio,
              const std::string& library = "") {
    const std::string provider = library.empty() ? "iree" : "openblas";
    const Id id = add(configuration, provider);
    const std::string identity = (library.empty() ? provider : library) + configuration;
    EXPECT_TRUE(store_.record(
        store::ArtifactRow{.candidate = id,
                           .identity = identity,
                           .format = library.empty() ? "f" : std::string(store::kLibraryFormat),
                           .launch = "{}"}));
    EXPECT_TRUE(store_.record(store::VerificationRow{
        .dispatch = dispatch_, .identity = identity, .device = device_, .right = true}));
    measure(identity, seconds, Phase::kSearch, ratio);
    return id;
  }
  void failed(const std::string& configuration, const std::string& message) {
    EXPECT_TRUE(store_.record(store::FailureRow{
        .candidate = add(configuration), .kind = "compile error", .message = message}));
  }
  // The default in 40 us and five others; {2, 8} and {4, 8} are finalists, measured again when all
  // took 1.5 times as long.
  void fill() {
    measured("{}", 40e-6, 1);
    winner_ = measured(R"({"tile":2,"width":8})", 10e-6, 0.25);
    finalist_ = measured(R"({"tile":4,"width":8})", 11e-6, 0.275);
    other_ = measured(R"({"tile":2,"width":16})", 20e-6, 0.5);
    failed(R"({"tile":8,"width":8})", "error: <b>\n</script>");
    failed(R"({"tile":8,"width":16})", "error: <b>\n</script>");
    measured("{}", 30e-6, 0.75, "OpenBLAS 0.3.21 of ");
    measure(R"(iree{"tile":2,"width":8})", 15e-6, Phase::kFinalist, 0.25);
    measure(R"(iree{"tile":4,"width":8})", 18e-6, Phase::kFinalist, 0.3);
    EXPECT_TRUE(store_.record(store::SelectionRow{.dispatch = dispatch_,
                                                  .build = build_,
                                                  .device = device_,
                                                  .winner = winner_,
                                                  .ties = {winner_},
                                                  .speedup = 4,
                                                  .speedup_low = 3.5,
                                                  .speedup_high = 4.5,
                                                  .shipped = true,
                                                  .reason = "faster than every other finalist"}));
  }
  ordered_json data() {
    const auto document = report_data(store_, "hone.db");
    EXPECT_TRUE(document) << document.error().message;
    return *document;
  }

  TemporaryFolder folder_ = std::move(TemporaryFolder::create("hone-report-").value());
  store::Store store_ =
      std::move(store::Store::open(folder_.path() / "hone.db", store::Mode::kReadWrite).value());
  Id build_ = 0, device_ = 0, dispatch_ = 0, run_ = 0, winner_ = 0, finalist_ = 0, other_ = 0;
};

TEST(EmptyReport, SaysHowToFillTheStore) {
  const TemporaryFolder folder = std::move(TemporaryFolder::create("hone-report-").value());
  store::Store empty =
      std::move(store::Store::open(folder.path() / "e.db", store::Mode::kReadWrite).value());
  const auto document = report_data(empty, "e.db");
  ASSERT_FALSE(document);
  EXPECT_EQ(document.error().kind, ErrorKind::kInput);
  EXPECT_THAT(document.error().message, HasSubstr("is empty"));
  EXPECT_THAT(document.error().message, HasSubstr("hone tune INPUT --store e.db"));
}

TEST_F(ReportTest, GivesTheFiguresOfADispatch) {
  fill();
  const ordered_json dispatch = data()["dispatches"][0];
  EXPECT_EQ(dispatch["operation"], "matmul 128x128x128 f32,f32->f32");
  EXPECT_EQ(dispatch["default_seconds"], 40e-6);
  EXPECT_EQ(dispatch["tuned_seconds"], 15e-6);
  EXPECT_EQ(dispatch["speedup"], 4);
  EXPECT_EQ(dispatch["speedup_low"], 3.5);
  EXPECT_EQ(dispatch["selection"]["ties"], ordered_json::array({winner_}));
  // Without the default and OpenBLAS.
  EXPECT_EQ(dispatch["counts"]["tried"], 5);
  EXPECT_EQ(dispatch["counts"]["right"], 3);
  EXPECT_EQ(dispatch["counts"]["failed"]["compile error"], 2);
  EXPECT_EQ(dispatch["libraries"][0]["name"], "OpenBLAS");
  // OpenBLAS takes 0.75 of the default, the winner a quarter: 3 times as long.
  EXPECT_EQ(dispatch["libraries"][0]["over_tuned"], 3);
}

TEST_F(ReportTest, PlacesADispatchUnderTheRoofline) {
  fill();
  const ordered_json roofline = data()["dispatches"][0]["roofline"];
  EXPECT_EQ(roofline["peak_flops"], 1e12);
  EXPECT_EQ(roofline["bandwidth"], 100e9);
  EXPECT_EQ(roofline["intensity"], 21.3333);
  EXPECT_EQ(roofline["least_seconds"], 4.1943e-6);
}

TEST_F(ReportTest, GivesCandidatesAsColumns) {
  fill();
  const ordered_json table = data()["dispatches"][0]["candidates"];
  ASSERT_EQ(table["id"].size(), 6);  // the default and five others
  const auto at = [&](std::string_view column, std::size_t row) { return table[column][row]; };
  EXPECT_EQ(at("id", 1), winner_);
  EXPECT_EQ(at("seconds", 1), 15e-6);
  EXPECT_EQ(at("searched", 1), 10e-6);
  EXPECT_EQ(at("searched", 3), nullptr);  // no finalist
  EXPECT_EQ(table["states"][at("state", 4).get<std::size_t>()], "failed");
  ASSERT_EQ(table["knobs"].size(), 2);
  EXPECT_EQ(table["knobs"][0]["name"], "tile");
  EXPECT_EQ(table["knobs"][0]["values"], (ordered_json{2, 4, 8}));
  EXPECT_EQ(table["knobs"][0]["index"], (ordered_json{-1, 0, 1, 0, 2, 2}));
}

TEST_F(ReportTest, GroupsFailuresByTheirWords) {
  fill();
  failed(R"({"tile":16,"width":8})", "error: another");
  const ordered_json failures = data()["dispatches"][0]["failures"];
  ASSERT_EQ(failures.size(), 2);
  EXPECT_EQ(failures[0]["count"], 2);
  EXPECT_EQ(failures[0]["kind"], "compile error");
  EXPECT_EQ(failures[0]["message"], "error: <b>\n</script>");
  EXPECT_EQ(failures[1]["message"], "error: another");
}

TEST_F(ReportTest, CompareFinalistsByTheirRoundsAndOthersByTheSearch) {
  fill();
  const ordered_json effects = data()["dispatches"][0]["effects"];
  ASSERT_EQ(effects.size(), 2);
  // width 16 was in the search only: 0.5 / 0.25. By the finalist's median it would be 20 / 15.
  EXPECT_EQ(effects[0]["name"], "width");
  EXPECT_EQ(effects[0]["value"], 8);
  EXPECT_EQ(effects[0]["best_other"]["slower"], 2);
  EXPECT_EQ(effects[0]["best_other"]["candidate"], other_);
  // tile 4 is a finalist too: 0.3 / 0.25. It differs in tile alone.
  EXPECT_EQ(effects[1]["name"], "tile");
  EXPECT_EQ(effects[1]["best_other"]["slower"], 1.2);
  ASSERT_EQ(effects[1]["alone"].size(), 1);
  EXPECT_EQ(effects[1]["alone"][0]["candidate"], finalist_);
}

TEST_F(ReportTest, GivesWholeProgramsAndTheirRuns) {
  fill();
  const Id program = *store_.intern(store::ProgramRow{.hash = "p", .path = "p.mlir", .json = "{}"});
  EXPECT_TRUE(store_.link_dispatch({program, dispatch_, 0, 3}));
  EXPECT_TRUE(store_.record(store::ProgramMeasurement{.program = program,
                                                      .build = build_,
                                                      .device = device_,
                                                      .variant = "spec",
                                                      .spec = "module {}",
                                                      .timing = {.samples = {1e-3}, .median = 1e-3},
                                                      .ratio = 0.5,
                                                      .ratio_low = 0.4,
                                                      .ratio_high = 0.6,
                                                      .right = true,
                                                      .verdict = "faster"}));
  EXPECT_TRUE(store_.log_event("compile flags", R"({"variant":"spec","flags":["--a"]})"));
  const ordered_json document = data();
  EXPECT_EQ(document["store"], "hone.db");
  const ordered_json row = document["programs"][0]["measurements"][0];
  EXPECT_EQ(row["seconds"], 1e-3);
  EXPECT_EQ(row["ratio"], 0.5);
  EXPECT_EQ(row["run"], run_);
  // Three launches of 4.194304 us.
  EXPECT_EQ(document["programs"][0]["limits"], (ordered_json::array({{{"device", device_},
                                                                      {"build", build_},
                                                                      {"seconds", 12.5829e-6},
                                                                      {"why_unknown", ""}}})));
  EXPECT_EQ(document["specs"][row["spec"].get<std::size_t>()], "module {}");
  EXPECT_EQ(document["runs"][0]["command"], "hone tune p.mlir --quiet");
  EXPECT_EQ(document["runs"][0]["events"][0]["text"]["variant"], "spec");
  EXPECT_EQ(document["builds"][0]["target"]["cpu"], "znver5");
}

TEST_F(ReportTest, TakesAStoreThatWasOnlyCompiledInto) {
  const Id its_default = add("{}");
  const Id id = add(R"({"tile":2})");
  EXPECT_TRUE(store_.record(
      store::ArtifactRow{.candidate = id, .identity = "i", .format = "ptx", .launch = "{}"}));
  const ordered_json dispatch = data()["dispatches"][0];
  EXPECT_EQ(dispatch["device"], nullptr);
  EXPECT_EQ(dispatch["tuned_seconds"], nullptr);
  EXPECT_EQ(dispatch["default"], its_default);
  EXPECT_EQ(dispatch["counts"]["compiled"], 1);
  EXPECT_EQ(dispatch["candidates"]["seconds"][1], nullptr);
}

TEST_F(ReportTest, NoWordsOfACompilerEndTheDataOrRunInThePage) {
  fill();
  const std::string page = report_page(data());
  EXPECT_THAT(page, HasSubstr(R"(\u003c/script>)"));
  EXPECT_THAT(page, Not(HasSubstr("error: <b>")));
  EXPECT_THAT(page, HasSubstr("default-src 'none'; script-src 'nonce-"));
  EXPECT_THAT(page, HasSubstr("Chart.js v3"));
  for (const char* placeholder : {"@NONCE@", "@STYLE@", "@SCRIPTS@", "@DATA@"})
    EXPECT_THAT(page, Not(HasSubstr(placeholder)));
}

}  // namespace
}  // namespace hone::output
