// hone selftest on this CPU and on the emulated gfx942; faults that are planted there.
#include <gmock/gmock.h>

#include <filesystem>

#include "tests/cli/hone_command.h"

namespace hone::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class Selftest : public HoneCommand {
 protected:
  nlohmann::json report() const {
    return nlohmann::json::parse(read_file(folder() / "selftest.json").value_or(""), nullptr,
                                 false);
  }
};

// One recorded bit is changed: all but that kernel pass. A report is a record for others.
TEST_F(Selftest, ThisCpuPassesButForABitThatIsRecordedOtherwise) {
  const auto text = read_file(std::string(HONE_SOURCE_DIR) + "/src/selftest/recorded.json");
  ASSERT_TRUE(text);
  nlohmann::json changed = nlohmann::json::parse(*text);
  std::string& hash = changed["kernels"]["divide_i32"].get_ref<std::string&>();
  const std::string right = hash;
  hash[0] = hash[0] == '0' ? '1' : '0';
  const Ran ran =
      hone({"selftest", "--device", "cpu", "--only", "facts,copies,kernels,guards,faults,clock",
            "--recorded", write("changed.json", changed.dump())});
  EXPECT_EQ(ran.exit_code, 1) << ran.out << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("28 B written behind an output are noticed"),
                             HasSubstr("5 of 6 checks passed")));
  const nlohmann::json written = report();
  EXPECT_EQ(written.at("passed"), false);
  EXPECT_EQ(written.at("kernels").size(), 30u);
  EXPECT_EQ(written.at("kernels").at("divide_i32"), right);
  EXPECT_EQ(written.at("checks").at(2).at("found"),
            "divide_i32: its bits are not the recorded ones (" + right + ", not " + hash + ")");
}

TEST_F(Selftest, AnUnknownCheckIsNamed) {
  const Ran ran = hone({"selftest", "--only", "kernel"});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("--only"), HasSubstr("kernels")));
}

TEST_F(Selftest, AReportOfAnotherKindIsRefused) {
  const Ran ran = hone({"selftest", "--recorded", write("other.json", R"({"kernels": []})")});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_THAT(ran.err, HasSubstr("is no report of hone selftest"));
  EXPECT_FALSE(std::filesystem::exists(folder() / "selftest.json"));
}

// The checks before something missing are in the report.
TEST_F(Selftest, AMissingCompilerIsInTheReport) {
  const Ran ran = hone({"selftest", "--device", "cpu"}, {{"HONE_IREE", "/nowhere"}});
  EXPECT_EQ(ran.exit_code, 3) << ran.out << ran.err;
  const nlohmann::json written = report();
  EXPECT_EQ(written.at("passed"), false);
  EXPECT_EQ(written.at("checks").at(0).at("name"), "doctor");
  EXPECT_EQ(written.at("checks").at(0).at("outcome"), "FAILED");
}

// A report of other checks says nothing of the kernels.
TEST_F(Selftest, BitsThatARecordLacksAreANote) {
  const Ran ran = hone({"selftest", "--device", "cpu", "--only", "kernels", "--recorded",
                        write("empty.json", R"({"kernels": {}, "devices": {}})")});
  EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("the record has no bits of argmax_f32"));
}

#ifdef HONE_FAKE_HIP
class EmulatedSelftest : public Selftest {
 protected:
  Ran on_hip(std::vector<std::string> arguments,
             const std::vector<EnvironmentChange>& environment = {}) const {
    for (const char* word : {"--device", "hip:0", "--hip", HONE_FAKE_HIP})
      arguments.emplace_back(word);
    arguments.insert(arguments.begin(), "selftest");
    return hone(arguments, environment);
  }
  Ran with_script(const std::string& checks, const std::string& script) const {
    return on_hip({"--only", checks}, {{"HONE_FAKE_HIP_TIMES", write("times", script)}});
  }
};

TEST_F(EmulatedSelftest, AllChecksPass) {
  const Ran ran = on_hip({"--budget", "6s"});
  EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("emulated gfx942 (no GPU): 12 of 12 checks passed"));
  EXPECT_EQ(report().at("devices").at("emulated gfx942 (no GPU)").at("units"), 304);
}

TEST_F(EmulatedSelftest, ASlowClockFails) {
  const Ran ran = with_script("clock", "chain* 100\n");
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("655 MHz by a chain of multiply-adds"),
                             HasSubstr("3374 MHz were recorded")));
}

TEST_F(EmulatedSelftest, AWriteThatReachesNoGuardFails) {
  const Ran ran = with_script("guards", "flip_4097* skip\n");
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("28 B written behind an output pass as: wrong"),
                             HasSubstr("expected: a broken guard")));
}

// 63 is hipDeviceAttributeMultiprocessorCount.
TEST_F(EmulatedSelftest, ALyingFactFails) {
  const Ran ran = on_hip({"--only", "facts"}, {{"HONE_FAKE_HIP_ATTRIBUTE", "63:228"}});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.out,
              AllOf(HasSubstr("the driver says units = 228"), HasSubstr("expected: units = 304")));
}
#endif

}  // namespace
}  // namespace hone::cli
