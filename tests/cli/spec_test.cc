// hone spec check: what a tuning spec does to a program, told from the compiler's IR.
#include <gmock/gmock.h>

#include "tests/cli/hone_command.h"
#include "tests/cli/planted_specs.h"

namespace hone::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

constexpr char kProgram[] = R"(
func.func @main(%a: tensor<512x256xf16>, %b: tensor<256x768xf16>) -> tensor<512x768xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x768xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<512x768xf32>) -> tensor<512x768xf32>
  %r = linalg.matmul ins(%a, %b : tensor<512x256xf16>, tensor<256x768xf16>)
      outs(%f : tensor<512x768xf32>) -> tensor<512x768xf32>
  return %r : tensor<512x768xf32>
})";

PlantedEntry nvidia(const std::string& name, const std::string& tiles) {
  return {name, 512,
          "lowering_config = #iree_gpu.lowering_config<{mma_kind = "
          "#iree_gpu.mma_layout<NV_MMA_SYNC_F32_16x8x16_F16>, promote_operands = [0, 1], " +
              tiles +
              "}>, translation_info = #iree_codegen.translation_info<pipeline = "
              "#iree_gpu.pipeline<TileAndFuse> workgroup_size = [128, 1, 1] subgroup_size = 32>"};
}
const std::string kTiles = "reduction = [0, 0, 2], subgroup = [2, 4, 0], workgroup = [64, 64, 0]";

PlantedEntry amd(const std::string& name, const std::string& tiles) {
  return {name, 512,
          "lowering_config = #iree_gpu.lowering_config<{mma_kind = "
          "#iree_gpu.mma_layout<MFMA_F32_16x16x16_F16>, promote_operands = [0, 1], " +
              tiles +
              "}>, translation_info = #iree_codegen.translation_info<pipeline = "
              "#iree_gpu.pipeline<TileAndFuse> workgroup_size = [256, 1, 1] subgroup_size = 64>"};
}

PlantedEntry cpu(const std::string& name, const std::string& tiles) {
  return {name, 512, on_cpu(tiles)};
}

class SpecCheck : public HoneCommand {
 protected:
  Ran check(const std::vector<PlantedEntry>& entries, const std::string& target,
            const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{"spec",
                                       "check",
                                       write("spec.mlir", planted_spec(entries, "f16")),
                                       "--program",
                                       write("program.mlir", kProgram),
                                       "--target",
                                       target};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return hone(arguments);
  }

  // The effect of each entry on the program's only dispatch.
  std::vector<std::string> effects(const std::vector<PlantedEntry>& entries,
                                   const std::string& target) const {
    const Ran ran = check(entries, target, {"--json"});
    const auto document = nlohmann::json::parse(ran.out, nullptr, false);
    EXPECT_FALSE(document.is_discarded()) << ran.out << ran.err;
    if (document.is_discarded()) return {ran.err};
    std::vector<std::string> found;
    for (const auto& entry : document.at("entries")) {
      found.push_back(entry.at("matches").empty()
                          ? "nothing"
                          : entry.at("matches")[0].at("effect").get<std::string>());
      EXPECT_EQ(entry.at("works"), found.back() == "applied") << ran.out;
    }
    EXPECT_EQ(ran.exit_code, document.at("working") == entries.size() ? 0 : 1);
    return found;
  }
};

TEST_F(SpecCheck, FindsAGoodSpecAppliedOnEachTarget) {
  using ::testing::ElementsAre;
  EXPECT_THAT(effects({nvidia("good", kTiles)}, "sm_80"), ElementsAre("applied"));
  EXPECT_THAT(effects({amd("good",
                           "reduction = [0, 0, 4], subgroup = [2, 2, 0], "
                           "workgroup = [64, 64, 0]")},
                      "gfx942"),
              ElementsAre("applied"));
  EXPECT_THAT(effects({cpu("good",
                           "distribution = [32, 64, 0], vector_common_parallel = [8, 16, 0], "
                           "vector_reduction = [0, 0, 8]")},
                      "x86-64"),
              ElementsAre("applied"));
}

TEST_F(SpecCheck, SaysThatASpecWhichMatchesNothingDoesNothing) {
  PlantedEntry other = nvidia("other", kTiles);
  other.m = 1024;
  const Ran ran = check({other}, "sm_80");
  EXPECT_EQ(ran.exit_code, 1) << ran.err;
  EXPECT_THAT(ran.out, StartsWith("0 of 1 entries work for "));
  EXPECT_THAT(
      ran.out,
      MatchesRegex(".*\nother  does nothing          -            no dispatch matches  +2\n"));
}

TEST_F(SpecCheck, TellsAnEntryThatIsIgnoredThoughItMatches) {
  PlantedEntry ignored = nvidia("ignored", kTiles);
  ignored.annotates = "no_such_information";
  const Ran ran = check({ignored}, "sm_80");
  EXPECT_EQ(ran.exit_code, 1) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("ignored"));
  EXPECT_THAT(ran.out, HasSubstr("the dispatch is configured as without the spec"));
}

TEST_F(SpecCheck, TellsAnEntryThatNeverHasItsTurn) {
  EXPECT_THAT(
      effects({nvidia("first", kTiles), nvidia("second",
                                               "reduction = [0, 0, 4], subgroup = [2, 4, 0], "
                                               "workgroup = [64, 64, 0]")},
              "sm_80"),
      ::testing::ElementsAre("applied", "shadowed"));
}

TEST_F(SpecCheck, GivesTheCompilersWordsForAnIllegalEntry) {
  const Ran ran = check({cpu("illegal",
                             "distribution = [32, 64, 0], vector_common_parallel = [8, 16, 8], "
                             "vector_reduction = [0, 0, 0]")},
                        "x86-64");
  EXPECT_EQ(ran.exit_code, 1) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("illegal"), HasSubstr("@illegal on main_dispatch_0"),
                             HasSubstr("expected only parallel dims")));
}

TEST_F(SpecCheck, KnowsDispatchesThatNoMatcherTellsApart) {
  const auto document =
      json({"spec", "check", write("spec.mlir", planted_spec({nvidia("one", kTiles)}, "f16")),
            "--program", write("program.mlir", R"(
func.func @main(%a: tensor<512x256xf16>, %b: tensor<256x768xf16>, %c: tensor<256x768xf16>)
    -> (tensor<512x768xf32>, tensor<512x768xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x768xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<512x768xf32>) -> tensor<512x768xf32>
  %r = linalg.matmul ins(%a, %b : tensor<512x256xf16>, tensor<256x768xf16>)
      outs(%f : tensor<512x768xf32>) -> tensor<512x768xf32>
  %s = linalg.matmul ins(%a, %c : tensor<512x256xf16>, tensor<256x768xf16>)
      outs(%f : tensor<512x768xf32>) -> tensor<512x768xf32>
  %t = math.tanh %s : tensor<512x768xf32>
  return %r, %t : tensor<512x768xf32>, tensor<512x768xf32>
})"),
            "--target", "sm_80", "--json"});
  EXPECT_EQ(document.at("entries")[0].at("matches").size(), 2u) << document;
  ASSERT_EQ(document.at("spec_classes").size(), 1u) << document;
  EXPECT_EQ(document.at("spec_classes")[0].at("dispatches").size(), 2u);
  // How iree-compile takes it; the second reads it before threads can wait for one another.
  EXPECT_THAT(document.at("flag").get<std::string>(), HasSubstr("spec.mlir"));
  ASSERT_EQ(document.at("flags").size(), 2u) << document;
  EXPECT_EQ(document.at("flags")[0], document.at("flag"));
  EXPECT_THAT(document.at("flags")[1].get<std::string>(),
              HasSubstr("iree-codegen-materialize-tuning-specs"));
}

TEST_F(SpecCheck, RefusesWhatIsNoSpecWithPlaceAndReason) {
  const std::string program = write("program.mlir", kProgram);
  const auto refused = [&](const std::vector<std::string>& arguments) {
    std::vector<std::string> all{"spec", "check"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const Ran ran = hone(all);
    EXPECT_EQ(ran.exit_code, 2) << ran.err;
    return ran.err;
  };
  EXPECT_THAT(refused({"nowhere.mlir", "--program", program}), HasSubstr("nowhere.mlir"));
  std::string broken = planted_spec({nvidia("broken", kTiles)}, "f16");
  broken.replace(broken.find("match.contraction"), 17, "match.contradiction");
  EXPECT_THAT(refused({write("broken.mlir", broken), "--program", program, "--target", "sm_80"}),
              AllOf(HasSubstr("broken.mlir:3:"), HasSubstr("contradiction")));
  EXPECT_THAT(refused({write("empty.mlir", "module {}"), "--program", program}),
              HasSubstr("has no transform.named_sequence @__kernel_config"));
  EXPECT_THAT(refused({write("spec.mlir", planted_spec({nvidia("good", kTiles)}, "f16")),
                       "--program", program, "--target", "sm_81"}),
              HasSubstr("did you mean"));
  EXPECT_THAT(refused({"spec.mlir", "--program", program, "--jsn"}),
              HasSubstr("hone spec check has no option '--jsn' (did you mean '--json'?)"));
}

}  // namespace
}  // namespace hone::cli
