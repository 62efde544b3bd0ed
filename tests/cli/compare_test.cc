// hone compare as a user meets it. No test asserts a time; what must differ does so by a factor.
#include "tests/cli/hone_command.h"

namespace hone::cli {
namespace {

class Compare : public HoneCommand {
 protected:
  // The one comparison of a command that must end with `exit_code`.
  nlohmann::json compared(int exit_code, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "compare");
    arguments.insert(arguments.end(), {"--threads", "1", "--json", "--seconds", "0.01"});
    const Ran ran = hone(arguments);
    EXPECT_EQ(ran.exit_code, exit_code) << ran.out << ran.err;
    const auto document = nlohmann::json::parse(ran.out, nullptr, false);
    if (document.is_discarded()) {
      ADD_FAILURE() << ran.out << ran.err;
      return {};
    }
    EXPECT_TRUE(document.at("machine").at("noise").contains("too_noisy"));
    EXPECT_EQ(document.at("comparisons").size(), 1u);
    return document.at("comparisons").at(0);
  }

  std::string wrong_use(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "compare");
    const Ran ran = hone(arguments);
    EXPECT_EQ(ran.exit_code, 2) << ran.out << ran.err;
    return ran.err;
  }
};

TEST_F(Compare, AMuchSlowerConfigurationIsARegression) {
  const std::string program = example("matmul_512.mlir");
  const nlohmann::json slower =
      compared(1, {"--program", program, "--config", "default", "--config", kSlow});
  EXPECT_EQ(slower.at("verdict"), "slower");
  EXPECT_GT(slower.at("ratio").get<double>(), 1.3);
  EXPECT_GE(slower.at("rounds").get<int>(), 30);
  EXPECT_EQ(slower.at("block"), 3);  // of each load
  EXPECT_EQ(slower.at("a"), "default");
  const nlohmann::json faster =
      compared(0, {"--program", program, "--config", kSlow, "--config", "default"});
  EXPECT_EQ(faster.at("verdict"), "faster");
}

TEST_F(Compare, AThingWithItselfIsTheSameCode) {
  const std::string program = write("product.mlir", matmul_program("64"));
  const nlohmann::json kernels =
      compared(0, {"--program", program, "--config", "default", "--config", "default", "--alpha",
                   "0.001", "--threshold", "0.2", "--find", "0.9"});
  EXPECT_EQ(kernels.at("note"), "both are the same code");
  EXPECT_EQ(kernels.at("verdict"), "no different");
  const nlohmann::json specs =
      compared(0, {"none", "none", "--program", program, "--rounds", "12", "--alpha", "0.001",
                   "--threshold", "0.5", "--find", "0.9"});
  EXPECT_EQ(specs.at("note"), "both are the same module");
  EXPECT_EQ(specs.at("what"), "product");
  EXPECT_GE(specs.at("rounds").get<int>(), 12);
}

TEST_F(Compare, WinnersOfTwoStoresAreTakenFromTheirCode) {
  const std::string program = write("product.mlir", matmul_program("64"));
  for (const char* store : {"a.db", "b.db"})
    ASSERT_LE(hone({"tune", program, "--store", store, "--candidates", "1", "--budget", "20s",
                    "--no-program", "--no-baselines", "--threads", "1", "--quiet"})
                  .exit_code,
              1);
  const nlohmann::json stores =
      compared(0, {"a.db", "b.db", "--alpha", "0.001", "--threshold", "0.5", "--find", "0.9"});
  EXPECT_NE(stores.at("what").get<std::string>().find("matmul_64x64x64"), std::string::npos);
  EXPECT_NE(wrong_use({"a.db", "b.db", "--dispatch", "*conv*"}).find("share no dispatch"),
            std::string::npos);
}

TEST_F(Compare, WrongUseIsOneMessage) {
  EXPECT_NE(wrong_use({}).find("takes two operands, A and B, got 0"), std::string::npos);
  EXPECT_NE(wrong_use({"a.vmfb", "b.vmfb"}).find("cannot read 'a.vmfb'"), std::string::npos);
  const std::string text = write("notes.txt", "hello");
  EXPECT_NE(wrong_use({text, text}).find("neither a module (.vmfb), a store of hone, a spec"),
            std::string::npos);
  const std::string program = example("matmul_512.mlir");
  EXPECT_NE(wrong_use({program, program}).find("--program"), std::string::npos);
  EXPECT_NE(wrong_use({"--program", program, "--config", "default"}).find("two configurations"),
            std::string::npos);
  EXPECT_NE(wrong_use({"none", "none", "--program", program, "--rounds", "4"}).find("--rounds 4"),
            std::string::npos);
  EXPECT_NE(wrong_use({"none", "none", "--program", program, "--threshold", "0.05"})
                .find("--find 0.02 must be above --threshold 0.05"),
            std::string::npos);
  EXPECT_NE(wrong_use({"--program", program, "--config", "default", "--config", "dist_q=1"})
                .find("dist_q"),
            std::string::npos);
}

TEST_F(Compare, AFileThatIsNoModuleIsSaidByTheRuntime) {
  const std::string file = write("broken.vmfb", "not a module");
  const Ran ran = hone({"compare", file, file});
  EXPECT_EQ(ran.exit_code, 1) << ran.err;
  EXPECT_NE(ran.err.find("iree-dump-module failed"), std::string::npos) << ran.err;
}

}  // namespace
}  // namespace hone::cli
