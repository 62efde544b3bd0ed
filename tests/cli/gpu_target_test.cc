// GPU targets without a GPU: what a program is split into, and the spaces of its dispatches.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <set>
#include <sstream>

#include "tests/cli/hone_command.h"

namespace hone::cli {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class GpuTarget : public HoneCommand {};

TEST_F(GpuTarget, ListsDispatchesWithTheCompilersOwnConfiguration) {
  for (const auto& [arch, instruction] :
       {std::pair("gfx942", "MFMA_F32_16x16x16_F16"), {"sm_80", "NV_MMA_SYNC_F32_16x8x16_F16"}}) {
    const auto document =
        json({"dispatches", example("matmul_f16.mlir"), "--target", arch, "--json"});
    ASSERT_EQ(document.at("dispatches").size(), 1u);
    EXPECT_THAT(document.at("dispatches")[0].at("default_configuration").get<std::string>(),
                HasSubstr(instruction));
    EXPECT_TRUE(document.at("dispatches")[0].at("not_tunable").is_null());
  }
}

TEST_F(GpuTarget, TellsEachReasonOnceBelowTheList) {
  const Ran ran = hone({"dispatches", example("attention_block.mlir"), "--target", "sm_80"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  const auto reasons = ran.out.find("\n(1) ");
  ASSERT_NE(reasons, std::string::npos) << ran.out;
  const std::string list = ran.out.substr(0, reasons);
  EXPECT_THAT(list, HasSubstr("no (1)"));
  EXPECT_THAT(list, Not(HasSubstr("no: ")));
  std::istringstream lines(ran.out.substr(reasons + 1));
  std::set<std::string> seen;
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::string mark = fmt::format("({}) ", ++number);
    ASSERT_THAT(line, StartsWith(mark));
    EXPECT_THAT(list, HasSubstr("no " + mark.substr(0, mark.size() - 1)));
    EXPECT_TRUE(seen.insert(line.substr(mark.size())).second) << line;
  }
}

TEST_F(GpuTarget, SaysWhichTargetStandsForAnother) {
  const Ran ran = hone({"dispatches", example("matmul_f16.mlir"), "--target", "sm_90", "--json"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(ran.err, "sm_90 is compiled for sm_80, the nearest target that this IREE knows\n");
  EXPECT_EQ(nlohmann::json::parse(ran.out).at("target"),
            nlohmann::json({{"name", "sm_90"}, {"compiled_as", "sm_80"}}));
}

TEST_F(GpuTarget, NamesTheNearestForAnUnknownOne) {
  for (const char* name : {"gfx943", "sm_81", "gx942"}) {
    const Ran ran = hone({"dispatches", example("matmul_f16.mlir"), "--target", name});
    EXPECT_EQ(ran.exit_code, 2);
    EXPECT_THAT(ran.err, HasSubstr(std::string("does not know the GPU target '") + name + "'"));
    EXPECT_THAT(ran.err, HasSubstr("did you mean"));
  }
}

TEST_F(GpuTarget, CountsTheSpacePerPipeline) {
  const auto document = json(
      {"space", example("matmul_f16.mlir"), "--target", "gfx942", "--dispatch", "0", "--json"});
  const auto& space = document.at("spaces").at(0);
  ASSERT_EQ(space.at("pipelines").size(), 2u);
  EXPECT_EQ(space.at("pipelines")[0].at("name"), "TileAndFuse");
  EXPECT_EQ(space.at("pipelines")[1].at("name"), "VectorDistribute");
  EXPECT_EQ(space.at("count").get<int>(), space.at("pipelines")[0].at("count").get<int>() +
                                              space.at("pipelines")[1].at("count").get<int>());
}

TEST_F(GpuTarget, SaysInTheCompilersWordsWhatAConfigurationBreaks) {
  const Ran ran =
      hone({"space", example("matmul_f16.mlir"), "--target", "gfx942", "--check",
            "pipeline=0,wg_0=96,wg_1=64,sg_0=1,sg_1=2,red_2=1,sg_size=64,"
            "wg_size_x=128,wg_size_y=1,wg_size_z=1,prefetch_num_stages=2,mma_idx=0,"
            "sg_m_cnt=0,sg_n_cnt=0,waves_per_eu=0,pad_shared_memory=1,flush_denormals=0"});
  EXPECT_EQ(ran.exit_code, 1) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("dim_0 must be divisible by wg_0 (2048 % 96 == 0)"));
}

// The compiler dies when it is asked about a batch matmul: hone's own space serves.
TEST_F(GpuTarget, HasASpaceOfItsOwnWhereTheCompilerStatesNone) {
  const std::string path = write("batch.mlir", R"(
func.func @main(%a: tensor<12x128x64xf16>, %b: tensor<12x64x128xf16>,
                %c: tensor<12x128x128xf32>) -> tensor<12x128x128xf32> {
  %r = linalg.batch_matmul ins(%a, %b : tensor<12x128x64xf16>, tensor<12x64x128xf16>)
      outs(%c : tensor<12x128x128xf32>) -> tensor<12x128x128xf32>
  return %r : tensor<12x128x128xf32>
})");
  const auto document = json({"space", path, "--target", "sm_80", "--json"});
  const auto& space = document.at("spaces").at(0);
  EXPECT_GT(space.at("count").get<int>(), 100);
  EXPECT_EQ(space.at("knobs")[0].at("name"), "mma");
}

TEST_F(GpuTarget, AndTheDeviceMustBeOfOneKind) {
  const auto refused = [&](const std::string& target, const std::string& device) {
    const Ran ran =
        hone({"tune", example("matmul_f16.mlir"), "--target", target, "--device", device});
    EXPECT_EQ(ran.exit_code, 2) << ran.err;
    EXPECT_FALSE(std::filesystem::exists(folder() / "hone.db"));
    return ran.err;
  };
  EXPECT_THAT(refused("sm_90", "hip:0"),
              HasSubstr("--device hip:0 does not run code for --target sm_90"));
  EXPECT_THAT(refused("host", "cuda:x"),
              HasSubstr("--device 'cuda:x': devices are cpu and cuda:0, cuda:1, ..."));
  EXPECT_THAT(refused("host", "0"), HasSubstr("--device '0': devices are cpu and cuda:0"));
  EXPECT_THAT(refused("sm_90", "cpu"),
              HasSubstr("--device cpu does not run code for --target sm_90"));
  EXPECT_THAT(refused("znver4", "cuda:0"),
              HasSubstr("--device cuda:0 does not run code for --target znver4"));
}

TEST_F(GpuTarget, VerifyAndCompareTakeTheSameDevices) {
  const std::string program = example("matmul_f16.mlir");
  const auto refused = [&](std::vector<std::string> arguments) {
    const Ran ran = hone(std::move(arguments));
    EXPECT_EQ(ran.exit_code, 2) << ran.err;
    return ran.err;
  };
  EXPECT_THAT(refused({"verify", program, "--target", "gfx942", "--device", "cuda:0"}),
              HasSubstr("--device cuda:0 does not run code for --target gfx942"));
  EXPECT_THAT(refused({"verify", program, "--target", "sm_90", "--device", "cpu"}),
              HasSubstr("--device cpu does not run code for --target sm_90"));
  EXPECT_THAT(refused({"compare", "none", "none", "--program", program, "--device", "rocm:0"}),
              HasSubstr("--device 'rocm:0': devices are cpu and cuda:0, cuda:1, ... and hip:0"));
}

TEST_F(GpuTarget, CandidatesAreShownWithTheirCodeAndSpec) {
  json({"tune", example("matmul_f16.mlir"), "--target", "gfx942", "--compile-only", "--candidates",
        "1", "--json"});
  const Ran ran = hone({"show", "2", "--out", "shown"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_TRUE(std::filesystem::exists(folder() / "shown" / "code.rocm-hsaco"));
  EXPECT_TRUE(std::filesystem::exists(folder() / "shown" / "candidate.json"));
  const auto script = read_file(folder() / "shown" / "reproduce.sh");
  ASSERT_TRUE(script);
  EXPECT_THAT(*script, HasSubstr("--iree-codegen-tuning-spec-path=tuning_spec.mlir"));
  const auto check =
      json({"spec", "check", (folder() / "shown" / "tuning_spec.mlir").string(), "--program",
            example("matmul_f16.mlir"), "--target", "gfx942", "--json"});
  EXPECT_EQ(check.at("entries")[0].at("matches")[0].at("effect"), "applied");
}

TEST_F(GpuTarget, CompilesStoresAndRanksCandidatesWithoutTheDevice) {
  const std::vector<std::string> command = {"tune",
                                            example("matmul_f16.mlir"),
                                            "--target",
                                            "gfx942",
                                            "--compile-only",
                                            "--candidates",
                                            "5",
                                            "--json"};
  const auto document = json(command);
  const auto& dispatch = document.at("dispatches").at(0);
  EXPECT_EQ(dispatch.at("tried"), 6);  // and the default
  EXPECT_EQ(dispatch.at("compiled"), 6);
  const auto& candidates = dispatch.at("candidates");
  ASSERT_EQ(candidates.size(), dispatch.at("distinct").get<std::size_t>());
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    EXPECT_GT(candidates[i].at("registers").get<int>(), 0);
    EXPECT_GT(candidates[i].at("shared_bytes").get<int>(), 0);
    if (i == 0) continue;
    // Fewer spilled registers first, then more of the unit's slots filled.
    const auto rank = [](const nlohmann::json& row) {
      return std::pair(row.at("spills").get<int>(), -row.at("occupancy").get<double>());
    };
    EXPECT_LE(rank(candidates[i - 1]), rank(candidates[i]));
  }
  EXPECT_EQ(nlohmann::json::parse(read_file(folder() / "out" / "compiled.json").value()), document);
  // What the store has is not compiled again, and ranks the same.
  EXPECT_EQ(json(command).at("dispatches"), document.at("dispatches"));
  // Nothing is measured, so nothing can be learnt: not random search under another name.
  const Ran learning = hone({"tune", example("matmul_512.mlir"), "--target", "sm_90",
                             "--compile-only", "--strategy", "model"});
  EXPECT_EQ(learning.exit_code, 2);
  EXPECT_NE(learning.err.find("--strategy model learns from measurements"), std::string::npos)
      << learning.err;
}

// PTX for sm_80 has no conversions of f8: neither the default nor any candidate compiles.
TEST_F(GpuTarget, NothingIsUsableWhereNothingOfADispatchCompiles) {
  const std::string program = write("fp8.mlir", R"(
func.func @main(%a: tensor<256x512xf8E4M3FN>, %b: tensor<512x256xf8E4M3FN>) -> tensor<256x256xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x256xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  %c = linalg.matmul ins(%a, %b : tensor<256x512xf8E4M3FN>, tensor<512x256xf8E4M3FN>) outs(%f : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %c : tensor<256x256xf32>
})");
  std::vector<std::string> command = {"tune",           program,        "--target", "sm_80",
                                      "--compile-only", "--candidates", "2"};
  const Ran ran = hone(command);
  EXPECT_EQ(ran.exit_code, 1);
  const std::string reason =
      "LLVM Translation failed for operation: builtin.unrealized_conversion_cast\n";
  const std::string dispatch = "main_dispatch_0_matmul_256x256x512_f8E4M3FNxf8E4M3FNxf32: ";
  EXPECT_THAT(ran.out, StartsWith("as it is, the program does not compile: " + dispatch + reason));
  EXPECT_THAT(ran.out,
              EndsWith("NOTHING USABLE: the compiler makes no code of " + dispatch + reason));
  command.emplace_back("--json");
  EXPECT_EQ(nlohmann::json::parse(hone(command).out)["verdict"]["outcome"], "nothing usable");
}

TEST_F(GpuTarget, CompilesTheConfigurationThatIsGiven) {
  std::vector<std::string> command = {"tune",   example("matmul_f16.mlir"), "--target",
                                      "gfx942", "--compile-only",           "--json"};
  std::vector<std::string> some = command;
  some.insert(some.end(), {"--candidates", "1"});
  std::string given, words;
  const auto first = json(some);
  for (const auto& row : first.at("dispatches").at(0).at("candidates"))
    if (row.at("configuration") != "{}") given = row.at("configuration");
  const auto knobs = nlohmann::ordered_json::parse(given);
  for (const auto& [knob, value] : knobs.items())
    words += fmt::format("{}{}={}", words.empty() ? "" : ",", knob, value.get<int>());
  command.insert(command.end(), {"--config", words, "--store", "another.db"});
  const auto dispatch = json(command).at("dispatches").at(0);
  EXPECT_EQ(dispatch.at("tried"), 2);  // and the default
  std::set<std::string> compiled;
  for (const auto& row : dispatch.at("candidates")) compiled.insert(row.at("configuration"));
  EXPECT_EQ(compiled.count(given), 1u) << given;
}

TEST_F(GpuTarget, CompilesNoLongerThanTheBudget) {
  const Ran ran = hone({"tune", example("matmul_f16.mlir"), "--target", "gfx942", "--compile-only",
                        "--candidates", "1000", "--budget", "1s"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("the time is over; "));
  EXPECT_THAT(ran.out, HasSubstr("candidates: "));
}

}  // namespace
}  // namespace hone::cli
