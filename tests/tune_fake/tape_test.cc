// What a replay says of a job that is not the recorded one.
#include "tests/tune_fake/tape.h"

#include <gmock/gmock.h>

#include "base/file.h"

namespace hone::test {
namespace {

using testing::HasSubstr;

worker::Message load(int grid) {
  return {"load", {{"artifact", {{"grid", grid}, {"seconds", 0.1234567}}}}, {"code"}};
}
const worker::Message kVerify{"verify", {{"handle", 1}}, {}};

class TapeTest : public testing::Test {
 protected:
  // Of a session that loads and verifies a kernel, and compiles a program.
  Tape recorded(bool accepts = false) {
    Tape tape = Tape::record({"/there/program.mlir"});
    const auto answer = [](nlohmann::json json) {
      return [json]() -> Result<nlohmann::json> { return json; };
    };
    EXPECT_TRUE(tape.answer("runner", load(8), answer({{"handle", 1}})));
    EXPECT_TRUE(tape.answer("compilers", {"load_program", {}, {}},
                            answer({{"path", "/there/program.mlir"}})));
    EXPECT_TRUE(tape.answer("runner", kVerify, answer({{"error", 0.12345678}})));
    EXPECT_TRUE(tape.save(file()));
    return std::move(Tape::load(file(), {"/here/copy.mlir"}, accepts).value());
  }
  std::filesystem::path file() const { return folder_.path() / "a.jsonl.zst"; }

  // Replaying, nothing is done.
  static Result<nlohmann::json> ask(Tape& tape, const std::string& lane,
                                    const worker::Message& job) {
    return tape.answer(lane, job, []() -> Result<nlohmann::json> { return failure("done"); });
  }
  TemporaryFolder folder_ = std::move(TemporaryFolder::create("hone-tape-").value());
};

TEST_F(TapeTest, AnswersAsRecordedInTheOrderOfEachLane) {
  Tape tape = recorded();
  EXPECT_EQ(ask(tape, "compilers", {"load_program", {}, {}}).value(),
            nlohmann::json({{"path", "/here/copy.mlir"}}));
  EXPECT_EQ(ask(tape, "runner", load(8)).value(), nlohmann::json({{"handle", 1}}));
  EXPECT_EQ(ask(tape, "runner", kVerify).value(), nlohmann::json({{"error", 0.123457}}));
  EXPECT_EQ(tape.problem(), "");
  EXPECT_EQ(tape.left(), "");
}

TEST_F(TapeTest, SaysHowAJobDiffersAndEndsTheSession) {
  Tape tape = recorded();
  const auto answer = ask(tape, "runner", load(16));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::kInterrupted);
  EXPECT_EQ(tape.problem(),
            "job 1 of 'runner' is not the recorded one:\n"
            "  asked    load {\"artifact\":{\"grid\":16,\"seconds\":0.123457}}\n"
            "  recorded load {\"artifact\":{\"grid\":8,\"seconds\":0.123457}}\n"
            "  /body/artifact/grid: 16, recorded as 8\n");
  // What comes after it is of another session.
  EXPECT_FALSE(ask(tape, "compilers", {"load_program", {}, {}}));
}

TEST_F(TapeTest, SaysWhichJobsAreMissingOrWereNotRecorded) {
  Tape tape = recorded();
  EXPECT_TRUE(ask(tape, "runner", load(8)));
  EXPECT_EQ(
      tape.left(),
      "1 of 1 jobs of 'compilers' were not asked for, the first of them load_program null\n"
      "1 of 2 jobs of 'runner' were not asked for, the first of them verify {\"handle\":1}\n");
  EXPECT_TRUE(ask(tape, "runner", kVerify));
  EXPECT_FALSE(ask(tape, "runner", kVerify));
  EXPECT_EQ(tape.problem(), "job 3 of 'runner' was not recorded: verify {\"handle\":1}");
}

// After a job's form has changed on purpose: no compiler is needed to keep the recording.
TEST_F(TapeTest, AcceptsAnotherFormOfAJobOfTheSameKindAndKeepsIt) {
  Tape tape = recorded(/*accepts=*/true);
  EXPECT_EQ(ask(tape, "runner", load(16)).value(), nlohmann::json({{"handle", 1}}));
  EXPECT_THAT(tape.accepted(), HasSubstr("/body/artifact/grid: 16, recorded as 8"));
  ASSERT_TRUE(tape.save(file()));
  Tape again = std::move(Tape::load(file(), {""}, false).value());
  EXPECT_TRUE(ask(again, "runner", load(16)));
  EXPECT_FALSE(ask(tape, "runner", load(16))) << "of another kind than the recorded 'verify'";
}

TEST(NormalForm, NamesFilesByTheirContentAndNoPathOfThisMachine) {
  const TemporaryFolder folder = std::move(TemporaryFolder::create("hone-tape-").value());
  const std::string spec = (folder.path() / "spec.mlir").string();
  ASSERT_TRUE(write_file_atomically(spec, "a spec"));
  const nlohmann::json flags = {"--spec=" + spec, "--dump=" + spec + ".other", "--level=3"};
  EXPECT_EQ(
      normal_job({"compile", {{"flags", flags}}, {"a spec"}}),
      nlohmann::json(
          {{"kind", "compile"},
           {"body",
            {{"flags",
              {"--spec=<file " + hash_and_length("a spec") + ">", "--dump=<path>", "--level=3"}}}},
           {"blobs", {hash_and_length("a spec")}}}));
}

}  // namespace
}  // namespace hone::test
