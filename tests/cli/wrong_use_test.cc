// Every mistake of a user's gets one clear message, exit code 2 (3 for the environment), and leaves
// nothing behind.
#include <gmock/gmock.h>
#include <sqlite3.h>

#include "tests/cli/hone_command.h"

namespace hone::cli {
namespace {

class WrongUse : public HoneCommand {};

TEST_F(WrongUse, AnUnknownOptionNamesTheNearest) {
  const Ran ran = hone({"tune", "x.mlir", "--candidate", "3"});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_EQ(ran.err,
            "hone: hone tune has no option '--candidate' (did you mean '--candidates'?); hone tune "
            "--help lists them\n");
}

TEST_F(WrongUse, AnUnknownCommandNamesTheNearest) {
  const Ran ran = hone({"tone"});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_NE(ran.err.find("'tone' is no command of hone (did you mean 'tune'"), std::string::npos)
      << ran.err;
}

#if defined(__x86_64__)
TEST_F(WrongUse, CodeForAnotherProcessorIsNotMeasuredHere) {
  const Ran ran = hone({"tune", example("matmul_512.mlir"), "--target", "aarch64-neoverse-n1"});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_THAT(ran.err, HasSubstr("is of another architecture; leave --target out"));
}
#endif

TEST_F(WrongUse, AMissingFileIsNamed) {
  const Ran ran = hone({"dispatches", "missing.mlir"});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_EQ(ran.err, "hone: cannot read 'missing.mlir': No such file or directory\n");
}

TEST_F(WrongUse, ABadDurationIsNamed) {
  const Ran ran = hone({"tune", example("matmul_512.mlir"), "--budget", "soon"});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_EQ(ran.err, "hone: --budget 'soon' is no duration; write 90s, 10m or 2h\n");
  EXPECT_FALSE(std::filesystem::exists(folder() / "hone.db"));
}

TEST_F(WrongUse, AVariableWithoutAValueIsNamed) {
  const Ran ran = hone({"tune", example("matmul_512.mlir"), "--env", "HSA_OVERRIDE_GFX_VERSION"});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_EQ(ran.err,
            "hone: --env: 'HSA_OVERRIDE_GFX_VERSION' is not NAME=VALUE, as "
            "HSA_OVERRIDE_GFX_VERSION=9.4.0 is\n");
}

TEST_F(WrongUse, ABadCoverageIsNamed) {
  for (const std::string text : {"0", "101%", "most"}) {
    const Ran ran = hone({"tune", example("matmul_512.mlir"), "--coverage", text});
    EXPECT_EQ(ran.exit_code, 2);
    EXPECT_EQ(ran.err,
              "hone: --coverage '" + text + "' is no share of the time; write 80% or 100%\n");
  }
}

TEST_F(WrongUse, AFlagThatNamesAnotherDeviceThanTheTargetIsNamed) {
  const Ran ran = hone({"dispatches", example("matmul_512.mlir"), "--target", "sm_80",
                        "--flag=--iree-hal-target-backends=rocm"});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_EQ(ran.err,
            "hone: the flag '--iree-hal-target-backends=rocm' contradicts the target, for which "
            "hone gives the compiler '--iree-hal-target-device=cuda --iree-cuda-target=sm_80': say "
            "what to compile for with --target (host, sm_80, gfx942, ...)\n");
  const Ran same = hone({"dispatches", example("matmul_512.mlir"),
                         "--flag=--iree-hal-target-device=local", "--flag=--iree-opt-level=O2"});
  EXPECT_EQ(same.exit_code, 0) << same.err;
}

TEST_F(WrongUse, MissingIreeSaysHowToGetIt) {
  const Ran ran =
      hone({"dispatches", example("matmul_512.mlir")}, {{"HONE_IREE", "/nowhere/at/all"}});
  EXPECT_EQ(ran.exit_code, 3);
  EXPECT_NE(ran.err.find("/nowhere/at/all"), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find("pip install"), std::string::npos) << ran.err;
}

// What hone starts itself as finds a provider's half by its name alone.
TEST_F(WrongUse, AStarterSpecThatDoesNotParseIsRefusedWithTheReason) {
  const std::string spec = write(
      "old.mlir", "module attributes { transform.with_named_sequence } {\n  transform.wrong\n}\n");
  const Ran ran = hone({"tune", example("matmul_512.mlir"), "--starter-spec", spec});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_THAT(ran.err,
              testing::AllOf(testing::HasSubstr("old.mlir' is no tuning spec that IREE reads:"),
                             testing::HasSubstr("hone spec upgrade")));
  EXPECT_THAT(ran.err, testing::HasSubstr("old.mlir:2:"));
}

TEST_F(WrongUse, AModeOfAutotuneIsAnsweredWithWhatSaysItHere) {
  const Ran ran = hone({"tune", "winograd", "141.mlir", "--devices=1,3,5"});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_THAT(ran.err, testing::HasSubstr("--compile-flags-file FILE"));
}

TEST_F(WrongUse, AFlagsFileForAnotherTargetIsRefused) {
  const std::string flags =
      write("flags.txt", "--iree-hal-target-device=hip --iree-rocm-target=gfx942");
  const Ran ran = hone({"dispatches", example("matmul_512.mlir"), "--target", "sm_80",
                        "--compile-flags-file", flags});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_THAT(ran.err, testing::HasSubstr("flags.txt is for gfx942, and --target says sm_80"));
}

TEST_F(WrongUse, AWorkerOfAnUnknownProviderNamesIt) {
  const Ran ran = hone({"worker", "compile", "--provider", "tango", "--installation", "here"});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_NE(ran.err.find("no provider 'tango'"), std::string::npos) << ran.err;
}

TEST_F(WrongUse, ASyntaxErrorHasTheCompilersLineAndColumn) {
  const std::string path = write("wrong.mlir", "func.func @f() {\n  %a = nonsense\n}\n");
  const Ran ran = hone({"dispatches", path});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_NE(ran.err.find("wrong.mlir:2:8: custom op 'nonsense' is unknown"), std::string::npos)
      << ran.err;
}

TEST_F(WrongUse, AnUnknownDispatchPatternNamesWhatThereIs) {
  const Ran ran = hone({"tune", example("matmul_512.mlir"), "--dispatch", "*conv*"});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_NE(ran.err.find("matches '*conv*'"), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find("matmul_512x512x512_f32"), std::string::npos) << ran.err;
}

TEST_F(WrongUse, NothingTunableIsSaidWithTheReason) {
  // A sum of everything has no parallel loop to distribute.
  const std::string path = write("sum.mlir", R"(
#in = affine_map<(d0) -> (d0)>
#out = affine_map<(d0) -> ()>
func.func @f(%a: tensor<64xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<f32>
  %filled = linalg.fill ins(%zero : f32) outs(%empty : tensor<f32>) -> tensor<f32>
  %sum = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["reduction"]}
      ins(%a : tensor<64xf32>) outs(%filled : tensor<f32>) {
  ^bb0(%value: f32, %total: f32):
    %next = arith.addf %total, %value : f32
    linalg.yield %next : f32
  } -> tensor<f32>
  return %sum : tensor<f32>
}
)");
  const Ran ran = hone({"tune", path, "--no-program"});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_NE(ran.err.find("can be tuned"), std::string::npos) << ran.err;
}

TEST_F(WrongUse, AnUnknownRuleNamesThoseThereAre) {
  for (const char* command : {"space", "tune"}) {
    const Ran ran = hone({command, example("matmul_512.mlir"), "--audit-rule", "no such rule"});
    EXPECT_EQ(ran.exit_code, 2);
    EXPECT_NE(ran.err.find("'no such rule' is none of the hard rules here: vector_tile_within"),
              std::string::npos)
        << ran.err;
    EXPECT_NE(ran.err.find("peeling_needs_remainders"), std::string::npos) << ran.err;
  }
}

TEST_F(WrongUse, ADynamicShapeAloneIsSaid) {
  const Ran ran = hone({"tune", write("dynamic.mlir", matmul_program("?"))});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_NE(ran.err.find("sizes of 'product' are open, give each: --dim input0.0=SIZE\n"),
            std::string::npos)
      << ran.err;
}

TEST_F(WrongUse, AConfigurationOutsideTheSpaceNamesWhatIsAllowed) {
  const Ran ran = hone({"space", example("matmul_512.mlir"), "--check", "dist_m=64,dist_q=64"});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_NE(ran.err.find("dist_q"), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find("dist_m"), std::string::npos) << ran.err;
}

TEST_F(WrongUse, AFileThatIsNoStoreIsRefused) {
  write("notes.db", "shopping list: milk, bread, and a database");
  const Ran ran = hone({"store", "list", "notes.db"});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_NE(ran.err.find("notes.db"), std::string::npos) << ran.err;
  EXPECT_EQ(hone({"store", "list", "missing.db"}).exit_code, 2);
  EXPECT_EQ(hone({"report", "missing.db"}).exit_code, 2);
}

TEST_F(WrongUse, AStoreOfANewerSchemaIsLeftAlone) {
  ASSERT_EQ(hone({"tune", example("matmul_512.mlir"), "--dispatch", "nothing"}).exit_code, 2);
  ASSERT_TRUE(std::filesystem::exists(folder() / "hone.db"));
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open((folder() / "hone.db").c_str(), &db), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(db, "PRAGMA user_version = 99", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(db);
  const Ran ran = hone({"tune", example("matmul_512.mlir")});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_NE(ran.err.find("99"), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find("newer"), std::string::npos) << ran.err;
}

// /dev/full takes nothing, as a file on a full disk.
TEST_F(WrongUse, AResultThatCannotBeWrittenIsNoSuccess) {
  const auto shell = [&](const std::string& line) {
    Command with = command({});
    with.arguments = {"/bin/sh", "-c", HONE_BINARY + (" " + line)};
    const auto result = run_process(with, {.seconds = 60});
    EXPECT_TRUE(result) << result.error().message;
    return Ran{result->exit_code, result->standard_output.text(), result->standard_error.text()};
  };
  const std::string generate = "generate --op-kind matmul -m 8 -n 8 -k 8 --types f32";
  const Ran unwritten = shell(generate + " > /dev/full");
  EXPECT_EQ(unwritten.exit_code, 3);
  EXPECT_NE(unwritten.err.find("cannot write to standard output: No space left on device"),
            std::string::npos)
      << unwritten.err;
  // What is only said beside the result ends nothing.
  EXPECT_EQ(shell(generate + " 2> /dev/full").exit_code, 0);
  EXPECT_EQ(shell("tone 2> /dev/full").exit_code, 2);
}

}  // namespace
}  // namespace hone::cli
