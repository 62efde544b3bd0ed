#include <gtest/gtest.h>

#include "profiler/tree.h"

namespace hone::profiler {
namespace {

constexpr const char* kSource =
    "// two functions\n"
    "\n"
    "#tile_a = #iree_codegen.compilation_info<\n"
    "  lowering_config = #iree_cpu.lowering_config<distribution = [8, 8, 0]>,\n"
    "  translation_info = #iree_codegen.translation_info<pipeline = None>>\n"
    "\n"
    "#map = affine_map<(d0) -> (d0)>\n"
    "\n"
    "func.func @f_a(%x: tensor<4xf32>) {\n"
    "  use #tile_a, #tile_ab, #map\n"
    "}\n"
    "\n"
    "func.func @f_b(\n"
    "    %x: tensor<4xf32>) {\n"
    "  use {\n"
    "  }\n"
    "}\n";

TEST(SourceFunctions, OthersAreLeftOutWithAllTheirLines) {
  const std::string text = only_functions(kSource, {"f_b"});
  EXPECT_EQ(text.find("@f_a"), std::string::npos);
  EXPECT_EQ(text.find("use #tile_a"), std::string::npos);
  EXPECT_NE(text.find("func.func @f_b(\n    %x: tensor<4xf32>) {\n  use {\n  }\n}\n"),
            std::string::npos);
  EXPECT_NE(text.find("#tile_a = "), std::string::npos);
  EXPECT_EQ(only_functions(kSource, {"f_a", "f_b"}), kSource);
}

TEST(SourceFunctions, TheConfigurationIsReadFromItsAlias) {
  EXPECT_EQ(lowering_config_of(kSource, "tile_a"),
            "#iree_cpu.lowering_config<distribution = [8, 8, 0]>");
  EXPECT_EQ(lowering_config_of(kSource, "tile"), "");
  EXPECT_EQ(lowering_config_of(kSource, "map"), "");
}

// Each file's own aliases are told apart; what only begins like one is another's.
TEST(SourceFunctions, JoinedFilesKeepTheirAliases) {
  const std::string joined = joined_sources({kSource, "#map = affine_map<() -> ()>\nuse #map\n"});
  EXPECT_NE(joined.find("#file0_tile_a = #iree_codegen"), std::string::npos);
  EXPECT_NE(joined.find("use #file0_tile_a, #tile_ab, #file0_map\n"), std::string::npos);
  EXPECT_NE(joined.find("#file1_map = affine_map<() -> ()>\nuse #file1_map\n"), std::string::npos);
}

}  // namespace
}  // namespace hone::profiler
