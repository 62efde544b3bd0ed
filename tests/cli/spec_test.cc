// hone spec check: what a tuning spec does to a program, told from the compiler's IR.
#include <gmock/gmock.h>

#include "tests/cli/hone_command.h"

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

struct Entry {
  std::string name;
  int m = 512;
  std::string lowering;
  std::string translation;
  std::string annotates = "compilation_info";
};

Entry nvidia(const std::string& name, const std::string& tiles) {
  return {
      name, 512,
      "#iree_gpu.lowering_config<{mma_kind = #iree_gpu.mma_layout<NV_MMA_SYNC_F32_16x8x16_F16>, "
      "promote_operands = [0, 1], " +
          tiles + "}>",
      "#iree_codegen.translation_info<pipeline = #iree_gpu.pipeline<TileAndFuse> "
      "workgroup_size = [128, 1, 1] subgroup_size = 32>"};
}
const std::string kTiles = "reduction = [0, 0, 2], subgroup = [2, 4, 0], workgroup = [64, 64, 0]";

Entry amd(const std::string& name, const std::string& tiles) {
  return {name, 512,
          "#iree_gpu.lowering_config<{mma_kind = #iree_gpu.mma_layout<MFMA_F32_16x16x16_F16>, "
          "promote_operands = [0, 1], " +
              tiles + "}>",
          "#iree_codegen.translation_info<pipeline = #iree_gpu.pipeline<TileAndFuse> "
          "workgroup_size = [256, 1, 1] subgroup_size = 64>"};
}

Entry cpu(const std::string& name, const std::string& lowering) {
  return {name, 512, "#iree_cpu.lowering_config<" + lowering + ">",
          "#iree_codegen.translation_info<pipeline = #iree_cpu.pipeline<DoubleTilingExpert>>"};
}

// As other tuners write them: the matcher yields the configuration, one action sets it.
std::string spec_of(const std::vector<Entry>& entries) {
  std::string text = "module attributes {transform.with_named_sequence} {\n", pairs;
  for (const Entry& entry : entries) {
    text += "transform.named_sequence @" + entry.name +
            "(%root: !transform.any_op {transform.readonly})"
            " -> (!transform.any_op, !transform.any_param) {\n"
            "  %batch, %m, %n, %k = transform.iree.match.contraction %root,\n"
            "    lhs_type = f16, rhs_type = f16, output_type = f32,\n"
            "    indexing_maps = [affine_map<(m, n, k) -> (m, k)>,\n"
            "      affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]\n"
            "    : !transform.any_op -> !transform.param<i64>\n"
            "  transform.iree.match.dims_equal %m, [" +
            std::to_string(entry.m) +
            "] : !transform.param<i64>\n"
            "  %info = transform.param.constant #iree_codegen.compilation_info<lowering_config = " +
            entry.lowering + ", translation_info = " + entry.translation +
            "> -> !transform.any_param\n"
            "  transform.yield %root, %info : !transform.any_op, !transform.any_param\n}\n";
    text += "transform.named_sequence @set_" + entry.name +
            "(%root: !transform.any_op {transform.readonly},\n"
            "    %info: !transform.any_param {transform.readonly}) {\n"
            "  transform.annotate %root \"" +
            entry.annotates +
            "\" = %info : !transform.any_op, !transform.any_param\n"
            "  transform.yield\n}\n";
    pairs += (pairs.empty() ? "@" : ", @") + entry.name + " -> @set_" + entry.name;
  }
  return text +
         "transform.named_sequence @__kernel_config(%v: !transform.any_op {transform.consumed})\n"
         "    -> !transform.any_op attributes {iree_codegen.tuning_spec_entrypoint} {\n"
         "  %r = transform.foreach_match in %v " +
         pairs +
         " : (!transform.any_op) -> !transform.any_op\n"
         "  transform.yield %r : !transform.any_op\n}\n}\n";
}

class SpecCheck : public HoneCommand {
 protected:
  Ran check(const std::vector<Entry>& entries, const std::string& target,
            const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{"spec",
                                       "check",
                                       write("spec.mlir", spec_of(entries)),
                                       "--program",
                                       write("program.mlir", kProgram),
                                       "--target",
                                       target};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return hone(arguments);
  }

  // The effect of each entry on the program's only dispatch.
  std::vector<std::string> effects(const std::vector<Entry>& entries,
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
  Entry other = nvidia("other", kTiles);
  other.m = 1024;
  const Ran ran = check({other}, "sm_80");
  EXPECT_EQ(ran.exit_code, 1) << ran.err;
  EXPECT_THAT(ran.out, StartsWith("0 of 1 entries work for "));
  EXPECT_THAT(
      ran.out,
      MatchesRegex(".*\nother  does nothing          -            no dispatch matches  +2\n"));
}

TEST_F(SpecCheck, TellsAnEntryThatIsIgnoredThoughItMatches) {
  Entry ignored = nvidia("ignored", kTiles);
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
  const auto document = json({"spec", "check", write("spec.mlir", spec_of({nvidia("one", kTiles)})),
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
  std::string broken = spec_of({nvidia("broken", kTiles)});
  broken.replace(broken.find("match.contraction"), 17, "match.contradiction");
  EXPECT_THAT(refused({write("broken.mlir", broken), "--program", program, "--target", "sm_80"}),
              AllOf(HasSubstr("broken.mlir:3:"), HasSubstr("contradiction")));
  EXPECT_THAT(refused({write("empty.mlir", "module {}"), "--program", program}),
              HasSubstr("has no transform.named_sequence @__kernel_config"));
  EXPECT_THAT(refused({write("spec.mlir", spec_of({nvidia("good", kTiles)})), "--program", program,
                       "--target", "sm_81"}),
              HasSubstr("did you mean"));
  EXPECT_THAT(refused({"spec.mlir", "--program", program, "--jsn"}),
              HasSubstr("hone spec check has no option '--jsn' (did you mean '--json'?)"));
}

}  // namespace
}  // namespace hone::cli
