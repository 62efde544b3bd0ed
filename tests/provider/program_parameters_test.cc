#include <gmock/gmock.h>

#include "provider/iree/program/program_functions.h"

namespace hone::iree {
namespace {

using problem::ElementType;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(ProgramParameters, AreReadAsTheCompilerPrintsThem) {
  EXPECT_THAT(parameters_in(
                  "util.global private @w = #flow.parameter.named<\"model\"::\"a.w\"> : "
                  "tensor<4x8xf32>\n"
                  "util.global private @b = #stream.parameter.named<\"b\\\"2\"> : tensor<8xbf16>\n"
                  "util.global private @v = #flow.parameter.named<\"model\"::\"a.w\"> : "
                  "tensor<4x8xf32>\n"),
              ElementsAre(ProgramParameter{"model", "a.w", {ElementType::kF32, {4, 8}}},
                          ProgramParameter{"", "b\"2", {ElementType::kBF16, {8}}}));
}

TEST(ProgramParameters, OtherTextHasNone) {
  for (const char* text : {"", "parameter.named<", "#flow.parameter.named<\"model",
                           "#flow.parameter.named<\"m\"::", "#flow.parameter.named<\"m\"::\"k\">",
                           "#flow.parameter.named<\"m\"::\"k\"> : tensor<4xq1>"})
    EXPECT_THAT(parameters_in(text), IsEmpty()) << text;
}

}  // namespace
}  // namespace hone::iree
