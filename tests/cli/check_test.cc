// hone check as a CI job meets it. No test asserts a time; what is slower is so by a factor.
#include <sqlite3.h>

#include "tests/cli/hone_command.h"

namespace hone::cli {
namespace {

class Check : public HoneCommand {
 protected:
  void SetUp() override {
    HoneCommand::SetUp();
    program_ = write("product.mlir", matmul_program("64"));
    const Ran tuned = hone({"tune", program_, "--config", kSlow, "--threads", "1", "--no-flags",
                            "--no-program", "--no-baselines", "--quiet", "--budget", "5s"});
    ASSERT_EQ(tuned.exit_code, 0) << tuned.out << tuned.err;
  }

  nlohmann::json checked(int exit_code, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "check");
    arguments.insert(arguments.end(), {"--threads", "1", "--json"});
    const Ran ran = hone(arguments);
    EXPECT_EQ(ran.exit_code, exit_code) << ran.out << ran.err;
    return nlohmann::json::parse(ran.out, nullptr, false);
  }

  std::string program_;
};

TEST_F(Check, TheSameCompilerMakesTheSameCode) {
  const nlohmann::json all = checked(0, {"hone.db"});
  ASSERT_EQ(all.at("codes").size(), 1u);
  EXPECT_EQ(all.at("codes").at(0).at("outcome"), "same code");
  EXPECT_EQ(all.at("failed"), false);
  const nlohmann::json of_program = checked(0, {program_, "--assert-tuned"});
  EXPECT_EQ(of_program.at("codes").at(0).at("outcome"), "same code");
  EXPECT_EQ(of_program.at("not_known"), nlohmann::json::array());
}

TEST_F(Check, NamesWhatIsSlowerWrongOrFails) {
  const std::string slow = "2";  // the default is the first candidate
  ASSERT_EQ(hone({"show", slow, "--out", "slow"}).exit_code, 0);
  const std::string spec =
      "--iree-codegen-tuning-spec-path=" + (folder() / "slow/tuning_spec.mlir").string();
  const nlohmann::json slower =
      checked(1, {"hone.db", "--flag=" + spec, "--junit", "check.xml"}).at("codes").at(0);
  EXPECT_EQ(slower.at("outcome"), "slower");
  EXPECT_GT(slower.at("low").get<double>(), 1.3);
  const std::string xml = read_file(folder() / "check.xml").value();
  EXPECT_NE(xml.find("<testsuite name=\"hone check hone.db\" tests=\"1\" failures=\"1\""),
            std::string::npos)
      << xml;
  EXPECT_NE(xml.find("name=\"default\"><failure type=\"slower\" message=\"takes "),
            std::string::npos)
      << xml;

  const nlohmann::json fails =
      checked(1, {"hone.db", "--flag=--iree-llvmcpu-target-triple=nothing"}).at("codes").at(0);
  EXPECT_EQ(fails.at("outcome"), "fails");
  EXPECT_NE(fails.at("reason"), "");
}

// The source of a sum is replaced by that of a difference: as if the compiler subtracted.
TEST_F(Check, NamesWhatIsWrong) {
  const auto of = [](const std::string& name) {
    const std::string type = "tensor<64x512xf32>";
    return "func.func @" + name + "(%a: " + type + ", %b: " + type + ") -> " + type +
           " {\n  %r = arith." + name + " %a, %b : " + type + "\n  return %r : " + type + "\n}\n";
  };
  const std::string both = write("both.mlir", of("addf") + of("subf"));
  const Ran tuned =
      hone({"tune", both, "--dispatch", "*", "--candidates", "1", "--threads", "1", "--no-flags",
            "--no-program", "--no-baselines", "--quiet", "--budget", "5s", "--store", "both.db"});
  ASSERT_EQ(tuned.exit_code, 0) << tuned.out << tuned.err;
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open((folder() / "both.db").c_str(), &db), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(db,
                         "UPDATE dispatch SET source_id = (SELECT source_id FROM dispatch WHERE "
                         "name LIKE 'subf%') WHERE name LIKE 'addf%'",
                         nullptr, nullptr, nullptr),
            SQLITE_OK);
  EXPECT_EQ(sqlite3_changes(db), 1);
  sqlite3_close(db);
  const nlohmann::json all = checked(1, {"both.db", "--dispatch", "addf*"});
  EXPECT_EQ(all.at("codes").at(0).at("outcome"), "wrong");
  EXPECT_NE(all.at("codes").at(0).at("reason").get<std::string>().find("expected"),
            std::string::npos)
      << all;
}

TEST_F(Check, SaysWhatTheStoreDoesNotKnow) {
  const std::string other = write("other.mlir", matmul_program("96"));
  EXPECT_EQ(checked(0, {other}).at("not_known").size(), 1u);
  EXPECT_EQ(checked(1, {other, "--assert-tuned"}).at("failed"), true);
  const Ran of_store = hone({"check", "hone.db", "--assert-tuned"});
  EXPECT_EQ(of_store.exit_code, 2);
  EXPECT_NE(of_store.err.find("--assert-tuned needs a program: hone check PROGRAM --store hone.db"),
            std::string::npos)
      << of_store.err;
}

// Another name of the function is another source of the dispatch, as another compiler writes one.
TEST_F(Check, FindsADispatchOfAnotherSourceByWhatItComputes) {
  std::string text = matmul_program("64");
  text.replace(text.find("@product"), 8, "@renamed");
  const nlohmann::json all = checked(
      0, {write("renamed.mlir", text), "--assert-tuned", "--threshold", "0.5", "--find", "0.9"});
  EXPECT_EQ(all.at("not_known"), nlohmann::json::array());
  ASSERT_EQ(all.at("codes").size(), 1u);
  EXPECT_EQ(all.at("codes").at(0).at("dispatch"), "renamed_dispatch_0_matmul_64x64x64_f32");
}

TEST_F(Check, AsksForNoResultOfACopy) {
  const std::string copy = write("copy.mlir", R"(
func.func @copy(%a: tensor<8x95x64xf32>, %b: tensor<8x1x64xf32>) -> tensor<8x96x64xf32> {
  %r = tensor.concat dim(1) %a, %b
      : (tensor<8x95x64xf32>, tensor<8x1x64xf32>) -> tensor<8x96x64xf32>
  return %r : tensor<8x96x64xf32>
})");
  ASSERT_FALSE(json({"dispatches", copy, "--json"}).at("dispatches").empty());
  EXPECT_EQ(checked(0, {copy, "--assert-tuned"}).at("not_known"), nlohmann::json::array());
}

TEST_F(Check, AStoreWithoutResultsOrCodeIsRefused) {
  const Ran none = hone({"check", "hone.db", "--dispatch", "no_such*"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_NE(none.err.find("no measured dispatch that matches no_such*: hone tune PROGRAM"),
            std::string::npos)
      << none.err;
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open((folder() / "hone.db").c_str(), &db), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(db, "UPDATE artifact SET code_id = NULL", nullptr, nullptr, nullptr),
            SQLITE_OK)
      << sqlite3_errmsg(db);
  sqlite3_close(db);
  const Ran no_code = hone({"check", "hone.db"});
  EXPECT_EQ(no_code.exit_code, 2);
  EXPECT_NE(no_code.err.find("keeps no code to compare with"), std::string::npos) << no_code.err;
}

}  // namespace
}  // namespace hone::cli
