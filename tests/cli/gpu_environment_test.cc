// What a user is told whose GPU, or driver, is not what was asked for.
#include <gmock/gmock.h>

#include <algorithm>
#include <iterator>

#include "tests/cli/hone_command.h"
#include "tests/device/fake_driver.h"
#include "tests/device/fake_hip.h"

namespace hone::cli {
namespace {

using test::FakeDriver;
using Functions = std::map<std::string, std::string>;
using ::testing::AllOf;
using ::testing::HasSubstr;

class GpuEnvironment : public HoneCommand {
 protected:
  Ran tune_on(const std::string& gpus, const FakeDriver& driver) const {
    const Ran ran = hone({"tune", example("matmul_f16.mlir"), "--device", gpus},
                         {{"LD_LIBRARY_PATH", driver.folder()}});
    EXPECT_FALSE(std::filesystem::exists(folder() / "hone.db"));
    EXPECT_FALSE(std::filesystem::exists(folder() / "out"));
    EXPECT_EQ(ran.out, "");
    return ran;
  }
};

TEST_F(GpuEnvironment, ADeviceThatIsNotThereIsNamedWithThoseThatAre) {
  const FakeDriver driver(test::two_h200s());
  for (const char* gpus : {"cuda:7", "cuda:0,7", "cuda:1,cuda:7"}) {
    const Ran ran = tune_on(gpus, driver);
    EXPECT_EQ(ran.exit_code, 2);
    EXPECT_EQ(ran.err,
              "hone: device cuda:7 is not there: this machine has cuda:0 (NVIDIA H200), cuda:1 "
              "(NVIDIA H200)\n");
  }
}

TEST_F(GpuEnvironment, SeveralDevicesAreDifferentOnesOfOneKind) {
  auto facts = test::two_h200s();
  const FakeDriver driver(facts);
  const Ran twice = tune_on("cuda:1,1", driver);
  EXPECT_EQ(twice.exit_code, 2);
  EXPECT_EQ(twice.err, "hone: --device names cuda:1 twice\n");
  for (const char* list : {"cuda:0,", "cuda:,1", "cuda:0;1", "cuda:0,cpu"}) {
    const Ran ran = tune_on(list, driver);
    EXPECT_EQ(ran.exit_code, 2);
    EXPECT_THAT(ran.err, HasSubstr("devices are cpu and cuda:0, cuda:1, ... and hip:0, hip:1, ...; "
                                   "several: cuda:0,1"));
  }
  facts["cuDeviceGetName"] =
      "(char* name, int n, int d) { __builtin_strcpy(name, d ? \"NVIDIA A100\" : \"NVIDIA H200\");"
      " return 0; }";
  const FakeDriver mixed(facts);
  const Ran ran = tune_on("cuda:0,1", mixed);
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_THAT(ran.err, HasSubstr("cuda:0 (NVIDIA H200) and cuda:1 (NVIDIA A100) are not of one "
                                 "kind"));
}

TEST_F(GpuEnvironment, ADriverThatIsTooOldOrSeesNoGpuIsAnErrorOfTheEnvironment) {
  const FakeDriver old(
      Functions{{"cuDriverGetVersion", "(int* version) { *version = 10020; return 0; }"}});
  const Ran ran = tune_on("cuda:0", old);
  EXPECT_EQ(ran.exit_code, 3);
  EXPECT_EQ(ran.err,
            "hone: the NVIDIA driver is too old: it runs CUDA 10.2, hone needs one of CUDA 11.0 or "
            "later\n");
  const FakeDriver without(Functions{{"cuInit", "(unsigned flags) { return 100; }"}});
  EXPECT_EQ(tune_on("cuda:0", without).exit_code, 3);
  EXPECT_EQ(tune_on("cuda:0", without).err,
            "hone: the NVIDIA driver finds no GPU on this machine\n");
}

TEST_F(GpuEnvironment, ADriverThatDiesCostsTheProcessThatOpensIt) {
  const FakeDriver dies(Functions{{"cuInit", "(unsigned flags) { __builtin_trap(); }"}});
  const Ran ran = tune_on("cuda:0", dies);
  EXPECT_EQ(ran.exit_code, 3);
  EXPECT_EQ(ran.err, "hone: the process that lists the devices of kind 'cuda' failed: SIGILL\n");
}

TEST_F(GpuEnvironment, DevicesAreShownAsTheDriverStatesThem) {
  const FakeDriver driver(test::two_h200s());
  const Ran ran = hone({"devices"}, {{"LD_LIBRARY_PATH", driver.folder()}});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  for (const char* name : {"\ncuda:0 NVIDIA H200: sm_90, ", "\ncuda:1 NVIDIA H200: sm_90, "})
    EXPECT_THAT(ran.out, HasSubstr(name));
  const auto document = nlohmann::json::parse(
      hone({"devices", "--json"}, {{"LD_LIBRARY_PATH", driver.folder()}}).out);
  ASSERT_EQ(document.at("devices").size(), 3u);
  EXPECT_EQ(document.at("devices")[0].at("kind"), "cpu");
  EXPECT_EQ(document.at("devices")[2].at("kind"), "cuda");
  EXPECT_EQ(document.at("devices")[2].at("target").at("index"), 1);
  EXPECT_EQ(document.at("devices")[2].at("target").at("arch"), "sm_90");
}

TEST_F(GpuEnvironment, NoDriverIsAnErrorOfTheEnvironment) {
  // A file that is no library stands before any driver that this machine may have.
  write("libcuda.so.1", "no library");
  const Ran ran = hone({"tune", example("matmul_f16.mlir"), "--device", "cuda:0"},
                       {{"LD_LIBRARY_PATH", folder().string()}});
  EXPECT_EQ(ran.exit_code, 3);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("the NVIDIA driver is not available"),
                             HasSubstr("install it, or choose another device")));
}

// AMD's HIP runtime, as the environment has it.
class HipEnvironment : public GpuEnvironment {
 protected:
  Ran tune_on_hip(const std::map<std::string, std::string>& bodies,
                  std::vector<std::string> more = {},
                  std::vector<EnvironmentChange> environment = {}) const {
    const test::FakeHip runtime(bodies);
    environment.emplace_back("HONE_HIP", runtime.library());
    std::vector<std::string> arguments{"tune", example("matmul_f16.mlir"), "--device", "hip:0"};
    std::ranges::move(more, std::back_inserter(arguments));
    const Ran ran = hone(arguments, environment);
    EXPECT_FALSE(std::filesystem::exists(folder() / "hone.db"));
    return ran;
  }
};

TEST_F(HipEnvironment, NoRuntimeIsAnErrorOfTheEnvironment) {
  for (const std::vector<std::string>& device :
       {std::vector<std::string>{"--device", "hip:0"}, {"--target", "gfx942"}}) {
    const Ran ran = hone({"tune", example("matmul_f16.mlir"), device[0], device[1], "--hip",
                          "/nowhere/libamdhip64.so"});
    EXPECT_EQ(ran.exit_code, 3);
    EXPECT_THAT(ran.err, AllOf(HasSubstr("AMD's HIP runtime is not available"),
                               HasSubstr("/nowhere/libamdhip64.so"), HasSubstr("with --hip")));
    EXPECT_EQ(ran.err.find("--compile-only") != std::string::npos, device[0] == "--target");
  }
}

TEST_F(HipEnvironment, AMachineWithoutAGpuIsAnErrorOfTheEnvironment) {
  const Ran ran = tune_on_hip({{"hipInit", "(unsigned flags) { return 100; }"}});
  EXPECT_EQ(ran.exit_code, 3);
  EXPECT_THAT(ran.err, HasSubstr("finds no AMD GPU on this machine"));
}

TEST_F(HipEnvironment, DevicesAreShownAsTheRuntimeStatesThem) {
  const test::FakeHip runtime(test::one_mi300x());
  const Ran ran = hone({"devices", "--hip", runtime.library()});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out,
              HasSubstr("\nhip:0 AMD Instinct MI300X: gfx942, 304 compute units of 8 dies, "
                        "192 GiB, LDS 64 KiB, last-level cache 256 MiB, HIP 7.2.53211"));
}

TEST_F(HipEnvironment, ADeviceThatIsNotThereAndAnotherTargetAreRefused) {
  const test::FakeHip runtime(test::one_mi300x());
  const Ran missing = hone({"tune", example("matmul_f16.mlir"), "--device", "hip:3"},
                           {{"HONE_HIP", runtime.library()}});
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_EQ(missing.err,
            "hone: device hip:3 is not there: this machine has hip:0 (AMD Instinct "
            "MI300X)\n");
  const Ran other = tune_on_hip(test::one_mi300x(), {"--target", "gfx950"});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_EQ(other.err,
            "hone: --target gfx950: hip:0 (AMD Instinct MI300X) runs code for gfx942 only\n");
}

TEST_F(HipEnvironment, Hip5RunsNoPrograms) {
  auto bodies = test::one_mi300x();
  bodies["hipDriverGetVersion"] = "(int* version) { *version = 50221153; return 0; }";
  bodies["hipGetDevicePropertiesR0600"] = "";
  bodies["hipGetDeviceProperties"] =
      "(char* p, int d) { __builtin_strcpy(p + 396, \"gfx942:sramecc+:xnack-\"); return 0; }";
  const Ran ran = tune_on_hip(bodies);
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_EQ(ran.err,
            "hone: hip:0 (AMD Instinct MI300X): HIP 5.2.21153 runs kernels only: whole programs "
            "need HIP 6 or later; hone tune --no-program tunes dispatches without them\n");
}

TEST_F(HipEnvironment, AGpuThatAVariableMakesAnotherIsUsedOnlyWhereItIsAskedFor) {
  const Ran ran = tune_on_hip(test::one_mi300x(), {}, {{"HSA_OVERRIDE_GFX_VERSION", "9.4.2"}});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_EQ(ran.err,
            "hone: HSA_OVERRIDE_GFX_VERSION makes hip:0 look like a gfx942, which it may not be; "
            "unset it, or tune for that GPU on purpose: --env HSA_OVERRIDE_GFX_VERSION=9.4.2\n");
  const Ran asked = tune_on_hip(test::one_mi300x(),
                                {"--env", "HSA_OVERRIDE_GFX_VERSION=9.4.2", "--target", "gfx950"});
  EXPECT_THAT(asked.err, HasSubstr("runs code for gfx942 only"));
}

}  // namespace
}  // namespace hone::cli
