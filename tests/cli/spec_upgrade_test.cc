// hone spec upgrade: files of older compilers as users meet them.
#include <gmock/gmock.h>

#include "tests/cli/hone_command.h"
#include "tests/provider_spec/old_specs.h"

namespace hone::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

using iree::old_spec;
using iree::product_entry;

// The product that the entries match, as a program.
constexpr char kProduct[] = R"(
func.func @product(%x: tensor<2048x1280xf16>, %y: tensor<1280x1280xf16>) -> tensor<2048x1280xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2048x1280xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<2048x1280xf32>) -> tensor<2048x1280xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<2048x1280xf16>, tensor<1280x1280xf16>) outs(%f : tensor<2048x1280xf32>) {
  ^bb0(%in: f16, %in_0: f16, %acc: f32):
    %8 = arith.extf %in : f16 to f32
    %9 = arith.extf %in_0 : f16 to f32
    %10 = arith.mulf %8, %9 : f32
    %11 = arith.addf %acc, %10 : f32
    linalg.yield %11 : f32
  } -> tensor<2048x1280xf32>
  return %r : tensor<2048x1280xf32>
}
)";

class SpecUpgrade : public HoneCommand {
 protected:
  bool exists(const std::string& name) const { return std::filesystem::exists(folder() / name); }
};

TEST_F(SpecUpgrade, WritesASpecOf2024ThatTheCompilerAppliesToAnAmdGpu) {
  write("old.mlir",
        old_spec(iree::kTransposedProduct + product_entry("match_mmt", iree::kProductOfApril),
                 {"@match_mmt -> @apply_op_config"}));
  write("program.mlir", kProduct);
  const Ran ran = hone({"spec", "upgrade", "old.mlir", "-o", "new.mlir", "--program",
                        "program.mlir", "--target", "gfx942"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("old.mlir: 1 of 1 entries are in today's syntax"),
                             HasSubstr("tile_sizes -> workgroup, reduction (2024-09-27): 1 entry"),
                             HasSubstr("1 of 1 entries work for program.mlir on gfx942")));
  const auto checked = json(
      {"spec", "check", "new.mlir", "--program", "program.mlir", "--target", "gfx942", "--json"});
  EXPECT_EQ(checked.at("entries").at(0).at("matches").at(0).at("effect"), "applied");
}

TEST_F(SpecUpgrade, AnEntryThatIsLeftOutIsAnExitCodeAndALine) {
  write("old.mlir",
        old_spec(iree::kTransposedProduct +
                     product_entry("match_tensor_core", iree::kTensorCoreProduct) +
                     product_entry("match_mmt", iree::kProductOfJuly),
                 {"@match_tensor_core -> @apply_op_config", "@match_mmt -> @apply_op_config"}));
  const Ran ran = hone({"spec", "upgrade", "old.mlir", "-o", "new.mlir"});
  EXPECT_EQ(ran.exit_code, 1) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("1 of 2 entries are in today's syntax"),
                             HasSubstr("old.mlir:28: @match_tensor_core: pipeline "
                                       "LLVMGPUMatmulTensorCore was removed"),
                             HasSubstr("wrote new.mlir")));
  EXPECT_EQ(json({"spec", "show", "new.mlir", "--json"}).at("entries").size(), 1u);
}

TEST_F(SpecUpgrade, WithoutAnOutputNothingIsWritten) {
  write("old.mlir",
        old_spec(iree::kTransposedProduct + product_entry("match_mmt", iree::kProductOfJanuary),
                 {"@match_mmt -> @apply_op_config"}));
  const auto document = json({"spec", "upgrade", "old.mlir", "--json"});
  EXPECT_EQ(document.at("upgraded").at(0).at("state"), "upgraded");
  EXPECT_THAT(hone({"spec", "upgrade", "old.mlir"}).out,
              HasSubstr("write it: hone spec upgrade old.mlir -o upgraded.mlir"));
  EXPECT_FALSE(exists("upgraded.mlir"));
}

// IREE's guide to tuning, with its fill of another type than its elements.
TEST_F(SpecUpgrade, AProgramOfAnOlderCompilerIsUpgradedForTheCheckToo) {
  std::string program = kProduct;
  program.replace(program.find("0.0 : f32"), 9, "0.0 : f16");
  program.replace(program.find("ins(%z : f32)"), 13, "ins(%z : f16)");
  write("program.mlir", program);
  write("old.mlir",
        old_spec(iree::kTransposedProduct + product_entry("match_mmt", iree::kProductOfJanuary),
                 {"@match_mmt -> @apply_op_config"}));
  const Ran ran =
      hone({"spec", "upgrade", "old.mlir", "--program", "program.mlir", "--target", "gfx942"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("program.mlir: linalg.fill that casts"),
                             HasSubstr("1 of 1 entries work for program.mlir on gfx942")));
  EXPECT_EQ(hone({"spec", "upgrade", "program.mlir", "-o", "new.mlir"}).exit_code, 0);
  EXPECT_EQ(hone({"dispatches", "new.mlir", "--target", "gfx942"}).exit_code, 0);
}

TEST_F(SpecUpgrade, AFileThatIsNoSpecIsRefusedAndNothingIsWritten) {
  write("old.mlir", "func.func @main() {\n  return\n");
  const Ran ran = hone({"spec", "upgrade", "old.mlir", "-o", "new.mlir"});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_THAT(ran.err, HasSubstr("old.mlir:1: '{' is not closed"));
  EXPECT_FALSE(exists("new.mlir"));
}

}  // namespace
}  // namespace hone::cli
