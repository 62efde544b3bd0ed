// hone doctor on this machine, and on this machine with something mis-set.
#include "cli/doctor.h"

#include <gmock/gmock.h>

#include "tests/cli/hone_command.h"

namespace hone::cli {
namespace {

class Doctor : public HoneCommand {
 protected:
  Ran examine(const std::vector<EnvironmentChange>& environment = {}) {
    const Ran ran = hone({"doctor", "--json"}, environment);
    document_ = nlohmann::json::parse(ran.out, nullptr, false);
    EXPECT_FALSE(document_.is_discarded()) << ran.out << ran.err;
    return ran;
  }
  // What it says of `subject`; null when it says nothing.
  nlohmann::json finding(const std::string& subject) const {
    for (const auto& each : document_.at("findings"))
      if (each.at("subject") == subject) return each;
    return {};
  }
  nlohmann::json document_;
};

TEST_F(Doctor, ThisMachineCanTune) {
  EXPECT_EQ(examine().exit_code, 0);
  EXPECT_TRUE(document_.at("ready"));
  EXPECT_EQ(finding("IREE compiler").at("health"), "ok");
  EXPECT_EQ(finding("IREE runtime tools").at("health"), "ok");
  EXPECT_EQ(finding("OpenBLAS").at("health"), "ok");
  for (const char* subject : {"oneDNN", "cores", "frequency governor", "background load", "memory",
                              "store's folder", "temporary files"})
    EXPECT_FALSE(finding(subject).is_null()) << subject;
}

TEST_F(Doctor, AWrongIreeIsMissing) {
  EXPECT_EQ(examine({{"HONE_IREE", "/nowhere/at/all"}}).exit_code, 3);
  EXPECT_FALSE(document_.at("ready"));
  EXPECT_EQ(finding("IREE compiler").at("health"), "missing");
  EXPECT_THAT(finding("IREE compiler").at("found").get<std::string>(),
              testing::HasSubstr("/nowhere/at/all"));
  EXPECT_EQ(finding("IREE compiler").at("fix"), "unset HONE_IREE, or let it name IREE");
  EXPECT_EQ(finding("HONE_IREE").at("found"), "'/nowhere/at/all' does not exist");
}

TEST_F(Doctor, AFileThatIsNoCompilerIsMissing) {
  const std::string library = write("libIREECompiler.so", "not a library");
  EXPECT_EQ(examine({{"HONE_IREE", library}}).exit_code, 3);
  EXPECT_THAT(finding("IREE compiler").at("found").get<std::string>(),
              testing::HasSubstr("cannot open IREE's compiler"));
}

TEST_F(Doctor, VariablesThatNameNothingOrAreMisspelled) {
  const Ran ran = examine({{"HONE_TRITON", "/nowhere"}, {"HONE_IRE", "x"}});
  EXPECT_EQ(ran.exit_code, 0);  // programs are tuned without Triton
  EXPECT_EQ(finding("Triton").at("health"), "warning");
  EXPECT_EQ(finding("HONE_TRITON").at("health"), "warning");
  EXPECT_EQ(finding("HONE_IRE").at("found"),
            "hone knows no such variable (did you mean 'HONE_IREE'?)");
  EXPECT_EQ(finding("HONE_IRE").at("fix"), "unset HONE_IRE");
}

TEST_F(Doctor, AStoreInAFolderThatIsNotThere) {
  const Ran ran = hone({"doctor", "--store", "missing/hone.db"});
  EXPECT_EQ(ran.exit_code, 3);
  EXPECT_THAT(ran.out, testing::HasSubstr("-> mkdir -p '"));
  EXPECT_THAT(ran.out, testing::HasSubstr("This machine cannot tune yet. (missing: 1,"));
}

TEST(DoctorMachine, CoresThatAControlGroupAllows) {
  EXPECT_EQ(allowed_cores("50000 100000"), 0.5);
  EXPECT_EQ(allowed_cores("400000 100000"), 4);
  EXPECT_EQ(allowed_cores("max 100000"), std::nullopt);
  EXPECT_EQ(allowed_cores(""), std::nullopt);
  EXPECT_EQ(allowed_cores("50000"), std::nullopt);
}

TEST(DoctorMachine, LoadStolenTimeAndGovernorsAreWarnings) {
  device::MachineState state;
  state.background = 0.3;
  state.cores = {{.core = 0, .stolen = 0.1, .governor = "powersave"}};
  state.processes = {{.pid = 12, .name = "builder", .share = 0.6}};
  const std::vector<Finding> findings = findings_of(state);
  ASSERT_EQ(findings.size(), 3u);
  for (const Finding& finding : findings) EXPECT_EQ(finding.health, Health::kWarning);
  EXPECT_EQ(findings[0].fix, "sudo cpupower frequency-set -g performance");
  EXPECT_EQ(findings[1].found, "others take 30 % of the cores: builder (12, 60 % of a core)");
  EXPECT_EQ(findings[2].found, "the hypervisor takes 10 % of a core");
}

TEST(DoctorMachine, AQuietMachineHasNothingToMend) {
  device::MachineState state;
  state.background = 0.01;
  state.cores = {{.core = 0, .stolen = 0, .governor = "performance"}};
  for (const Finding& finding : findings_of(state)) EXPECT_EQ(finding.health, Health::kGood);
}

}  // namespace
}  // namespace hone::cli
