#include <gmock/gmock.h>

#include "provider/iree/compiler/program_constants.h"

namespace hone::iree {
namespace {

using testing::HasSubstr;

std::string two_bytes(const problem::TensorType&) {
  return "\x01\xAB";
}

TEST(ElidedConstants, GetContentsByTheirType) {
  const FilledProgram filled = with_contents(
      "%a = arith.constant dense_resource<__elided__> : tensor<2xi8>\n"
      "%b = arith.constant dense_resource<__elided__> : tensor<2xsi8>\n"
      "%c = arith.constant dense_resource<__elided__> : tensor<2xi8>\n",
      two_bytes);
  EXPECT_EQ(filled.constants, 3u);
  EXPECT_EQ(filled.text,
            "%a = arith.constant dense_resource<hone_left_out_0> : tensor<2xi8>\n"
            "%b = arith.constant dense_resource<hone_left_out_1> : tensor<2xsi8>\n"
            "%c = arith.constant dense_resource<hone_left_out_0> : tensor<2xi8>\n"
            "\n{-#\n  dialect_resources: {\n    builtin: {\n"
            "      hone_left_out_0: \"0x4000000001AB\",\n"
            "      hone_left_out_1: \"0x4000000001AB\"\n    }\n  }\n#-}\n");
}

TEST(ElidedConstants, JoinTheResourcesThatAreThere) {
  const std::string program = "dense_resource<__elided__> : tensor<2xi8>\n";
  EXPECT_THAT(
      with_contents(program + "{-# dialect_resources: { builtin: { w: \"0x00\" } } #-}", two_bytes)
          .text,
      HasSubstr("builtin: {\n      hone_left_out_0: \"0x4000000001AB\", w: \"0x00\""));
  EXPECT_THAT(
      with_contents(program + "{-# dialect_resources: { other: { w: \"0x00\" } } #-}", two_bytes)
          .text,
      HasSubstr("dialect_resources: {\n    builtin: {\n      hone_left_out_0: "
                "\"0x4000000001AB\"\n    }, other:"));
}

TEST(ElidedConstants, OfUnknownTypesStay) {
  const std::string program = "dense_resource<__elided__> : tensor<2xq8>\n";
  const FilledProgram filled = with_contents(program, two_bytes);
  EXPECT_EQ(filled.constants, 0u);
  EXPECT_EQ(filled.text, program);
  EXPECT_TRUE(has_elided_constants(program));
  EXPECT_FALSE(has_elided_constants("dense<0>"));
}

}  // namespace
}  // namespace hone::iree
