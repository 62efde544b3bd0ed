// Stores that travel: compiled here, measured by a hone that finds no compiler, finished here.
#include <gmock/gmock.h>

#include "store/store.h"
#include "tests/cli/hone_command.h"

namespace hone::cli {
namespace {

using testing::HasSubstr;

class TravellingStore : public HoneCommand {
 protected:
  // Another user's machine without IREE.
  std::vector<EnvironmentChange> elsewhere() const {
    return {{"HONE_IREE", "/nonexistent"},
            {"HOME", (folder() / "elsewhere").string()},
            {"XDG_STATE_HOME", ""}};
  }
  Ran compile(const std::string& program, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{"tune", example(program), "--compile-only", "--candidates",
                                       "4",    "--store",        "s.db",           "--quiet"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return hone(arguments);
  }
  Ran measure(const std::string& program, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{"tune",    example(program), "--measure-only",
                                       "--store", "s.db",           "--quiet"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return hone(arguments, elsewhere());
  }
  store::Store open() const {
    return *store::Store::open(folder() / "s.db", store::Mode::kReadOnly);
  }
};

TEST_F(TravellingStore, IsCompiledHereMeasuredThereAndFinishedHereWithNothingDoneTwice) {
  const Ran compiled = compile("matmul_512.mlir");
  ASSERT_EQ(compiled.exit_code, 0) << compiled.err;
  const Ran measured = measure("matmul_512.mlir", {"--json", "--budget", "4s"});
  ASSERT_EQ(measured.exit_code, 0) << measured.err;
  const auto document = nlohmann::json::parse(measured.out);
  ASSERT_EQ(document.at("dispatches").size(), 1U);
  EXPECT_TRUE(document.at("not_tuned").empty());
  const nlohmann::json finished =
      json({"tune", example("matmul_512.mlir"), "--store", "s.db", "--no-program", "--json"});
  store::Store store = open();
  const std::vector<store::Run> runs = *store.runs();
  ASSERT_EQ(runs.size(), 3U);
  std::size_t measurements = 0, code = 0;
  const std::vector<store::CandidateView> rows = *store.candidate_rows();
  for (const store::CandidateView& row : rows) {
    if (row.format == store::kLibraryFormat) continue;
    const store::CandidateDetails details = *store.details(row.candidate);
    ASSERT_TRUE(details.artifact);
    EXPECT_EQ(details.artifact->run, runs[0].id);
    ++code;
    for (const store::Measurement& each : details.measurements) {
      EXPECT_EQ(each.run, runs[1].id);
      ++measurements;
    }
  }
  EXPECT_EQ(code, 5U);  // the default and four candidates
  EXPECT_GE(measurements, code);
  // The finished tuning has the winner of the machine that measured.
  const std::vector<store::SelectionRow> selections = *store.selections();
  ASSERT_EQ(selections.size(), 2U);
  EXPECT_EQ(selections[0].run, runs[1].id);
  EXPECT_EQ(selections[1].run, runs[2].id);
  EXPECT_EQ(selections[0].winner, selections[1].winner);
  EXPECT_EQ(selections[0].ties, selections[1].ties);
  EXPECT_EQ(selections[0].device, selections[1].device);
  EXPECT_EQ(finished.at("dispatches").at(0).at("speedup"),
            document.at("dispatches").at(0).at("speedup"));
}

TEST_F(TravellingStore, MeasuresProgramsWhoseReferencesAreCompiled) {
  ASSERT_EQ(compile("matmul_row_sum.mlir").exit_code, 0);
  const Ran measured =
      measure("matmul_row_sum.mlir", {"--json", "--budget", "4s", "--no-baselines"});
  ASSERT_EQ(measured.exit_code, 0) << measured.err;
  const auto document = nlohmann::json::parse(measured.out);
  EXPECT_EQ(document.at("dispatches").size(), 2U);  // hone computes the product's reference
  EXPECT_TRUE(document.at("not_tuned").empty()) << document.at("not_tuned");
  store::Store store = open();
  const std::vector<store::CandidateView> rows = *store.candidate_rows();
  for (const store::CandidateView& row : rows) {
    EXPECT_TRUE(row.failure_message.empty()) << row.failure_message;
  }
}

TEST_F(TravellingStore, WhatIsMissingIsOneMessageWithTheCommandThatMakesIt) {
  const std::string makes =
      "hone tune " + example("matmul_512.mlir") + " --compile-only --store s.db";
  const Ran no_store = measure("matmul_512.mlir");
  EXPECT_EQ(no_store.exit_code, 2);
  EXPECT_EQ(no_store.err, "hone: there is no store 's.db' to measure: '" + makes +
                              "', where the compiler is, makes it\n");
  EXPECT_FALSE(std::filesystem::exists(folder() / "s.db"));
  ASSERT_EQ(compile("matmul_row_sum.mlir").exit_code, 0);
  const Ran no_work = measure("matmul_512.mlir");
  EXPECT_EQ(no_work.exit_code, 2);
  EXPECT_THAT(no_work.err, HasSubstr("has no finished --compile-only of"));
  EXPECT_THAT(no_work.err, HasSubstr(makes));
}

TEST_F(TravellingStore, CodeOfAnotherTargetIsRefused) {
  EXPECT_THAT(compile("matmul_512.mlir", {"--target", "znver4"}).err,
              HasSubstr("hone does not know which instructions another machine must have; name a "
                        "level: --target x86-64-v3"));
  ASSERT_EQ(compile("matmul_512.mlir", {"--target", "x86-64-v2"}).exit_code, 0);
  const Ran other = measure("matmul_512.mlir", {"--target", "sm_80"});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err, HasSubstr("--target sm_80: the store 's.db' holds code for x86-64-v2"));
  for (const std::string excluded : {"--compile-only", "--dry-run"}) {
    const Ran ran = measure("matmul_512.mlir", {excluded});
    EXPECT_EQ(ran.exit_code, 2);
    EXPECT_THAT(ran.err,
                HasSubstr("--measure-only and " + excluded + " exclude each other: leave one out"));
  }
}

}  // namespace
}  // namespace hone::cli
