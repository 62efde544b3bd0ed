// hone space: what it shows of programs and of GEMMs.
#include <gmock/gmock.h>

#include <set>
#include <sstream>

#include "tests/cli/hone_command.h"

namespace hone::cli {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

class SpaceCommand : public HoneCommand {
 protected:
  // C = A B of 2048x10240x1280 in f16, whose space the compiler states.
  std::string product() {
    return write("product.mlir", R"(
func.func @main(%a: tensor<2048x1280xf16>, %b: tensor<1280x10240xf16>,
                %c: tensor<2048x10240xf32>) -> tensor<2048x10240xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<2048x1280xf16>, tensor<1280x10240xf16>)
      outs(%c : tensor<2048x10240xf32>) -> tensor<2048x10240xf32>
  return %r : tensor<2048x10240xf32>
})");
  }

  // The lines below a heading of the text, without their indentation.
  static std::vector<std::string> lines_below(const std::string& text, const std::string& heading) {
    std::istringstream stream(text);
    std::vector<std::string> lines;
    bool inside = false;
    for (std::string line; std::getline(stream, line);) {
      if (line == "  " + heading)
        inside = true;
      else if (inside && line.starts_with("    "))
        lines.push_back(line.substr(4));
      else
        inside = false;
    }
    return lines;
  }
};

TEST_F(SpaceCommand, ShowsDomainsAsRangesAndNoReasonTwice) {
  const Ran ran = hone({"space", product(), "--target", "sm_80"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const std::vector<std::string> knobs = lines_below(ran.out, "knobs");
  EXPECT_THAT(knobs, Contains(HasSubstr("wg_size_x")).Times(1));
  EXPECT_THAT(knobs, Contains(testing::ContainsRegex("^wg_size_x +\\{32\\.\\.1024\\}$")));
  const std::vector<std::string> rules = lines_below(ran.out, "constraints");
  EXPECT_GT(rules.size(), 40u);
  EXPECT_EQ(std::set<std::string>(rules.begin(), rules.end()).size(), rules.size());
  EXPECT_THAT(rules, Not(Contains(HasSubstr("{}"))));
  EXPECT_THAT(rules, Contains("hard dim_0 must be divisible by wg_0"));
  EXPECT_THAT(rules, Contains("soft sg_num <= 10"));
  EXPECT_THAT(rules, Contains("hard wg_size_y == 1"));
}

// The counts of tests/provider_iree_gpu/constraints_test.cc, which are z3's too.
TEST_F(SpaceCommand, ByTheCompilersRulesItIsWhatTheCompilerStates) {
  const auto document =
      json({"space", product(), "--target", "sm_80", "--rules", "compiler", "--json"});
  const auto& space = document.at("spaces").at(0);
  EXPECT_EQ(space.at("count"), 3249 + 2150);
  EXPECT_EQ(space.at("pipelines")[0].at("count"), 3249);
  EXPECT_EQ(space.at("pipelines")[1].at("count"), 2150);
  for (const auto& constraint : space.at("constraints")) {
    EXPECT_NE(constraint.at("name"), "padded output in shared memory");  // hone's
    EXPECT_NE(constraint.at("name"), "sums and operands fit in registers");
  }
}

TEST_F(SpaceCommand, ThereAreNoRulesOfTheCompilersForACpu) {
  const Ran ran = hone({"space", example("matmul_512.mlir"), "--rules", "compiler"});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_THAT(ran.err, HasSubstr("the compiler states no constraints for"));
}

TEST_F(SpaceCommand, TakesAGemm) {
  const auto document = json({"space", "-m", "2048", "-n", "1280", "-k", "5120", "--space",
                              "tune_gemm", "--target", "gfx942", "--json"});
  ASSERT_EQ(document.at("spaces").size(), 1u);
  const auto& space = document.at("spaces").at(0);
  EXPECT_EQ(space.at("operation"), "matmul 2048x1280x5120 f16,f16->f32");
  EXPECT_EQ(space.at("count"), 7024);  // as tune_gemm's own pruning leaves (tests/provider/triton)
}

TEST_F(SpaceCommand, TakesAListOfGemmsWithTheSpaceOfAKernel) {
  const std::string sizes =
      write("sizes.yaml", "- {'M': 512, 'N': 512, 'K': 256}\n- {'M': 64, 'N': 128, 'K': 4096}\n");
  const auto document = json({"space", sizes, "--target", "sm_90", "--json"});
  ASSERT_EQ(document.at("spaces").size(), 2u);
  EXPECT_EQ(document.at("spaces")[1].at("knobs")[0].at("name"), "STRUCTURE");
  EXPECT_GT(document.at("spaces")[1].at("count"), 100);
}

TEST_F(SpaceCommand, AGemmNeedsAGpuAndAProgramNoGemm) {
  const Ran ran = hone({"space", "-m", "64", "-n", "64", "-k", "64"});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_EQ(ran.err,
            "hone: the space of a GEMM is a GPU's: --target sm_90, gfx942, ... names it\n");
  const Ran both = hone({"space", example("matmul_512.mlir"), "--space", "tune_gemm"});
  EXPECT_EQ(both.exit_code, 2);
  EXPECT_EQ(both.err, "hone: --space is for GEMMs (--provider triton), and INPUT is a program\n");
  const Ran none = hone({"space"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err, HasSubstr("INPUT is missing: a program"));
  const Ran rules = hone(
      {"space", "-m", "64", "-n", "64", "-k", "64", "--target", "sm_90", "--rules", "compiler"});
  EXPECT_EQ(rules.exit_code, 2);
  EXPECT_THAT(rules.err, HasSubstr("--rules compiler is for programs"));
}

}  // namespace
}  // namespace hone::cli
