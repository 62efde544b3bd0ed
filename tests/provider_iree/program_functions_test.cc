// What programs of PyTorch's dialect, as iree-import-onnx writes them, take and return.
#include "provider/iree/program/program_functions.h"

#include <gmock/gmock.h>

#include "tests/provider_iree/compiler.h"

namespace hone::iree {
namespace {

using problem::ElementType;
using problem::Function;
using testing::ElementsAre;

// Its second argument is not used; of the third an extent is open.
constexpr char kNet[] = R"(
func.func @net(%x: !torch.vtensor<[2,3],f32>, %unused: !torch.vtensor<[5],si64>,
               %open: !torch.vtensor<[?,3],f16>)
    -> (!torch.vtensor<[?,3],f16>, !torch.vtensor<[2,3],f32>)
    attributes {torch.onnx_meta.ir_version = 8 : si64, torch.onnx_meta.opset_version = 17 : si64} {
  %0 = torch.operator "onnx.Add"(%x, %x)
      : (!torch.vtensor<[2,3],f32>, !torch.vtensor<[2,3],f32>) -> !torch.vtensor<[2,3],f32>
  %1 = torch.operator "onnx.Add"(%open, %open)
      : (!torch.vtensor<[?,3],f16>, !torch.vtensor<[?,3],f16>) -> !torch.vtensor<[?,3],f16>
  return %1, %0 : !torch.vtensor<[?,3],f16>, !torch.vtensor<[2,3],f32>
}
)";

TEST(ProgramFunctions, OfPyTorchAreThoseThatWaitForTheirResults) {
  EXPECT_THAT(load("net.mlir", kNet).functions,
              ElementsAre(Function{
                  "net",
                  {{ElementType::kF32, {2, 3}},
                   {ElementType::kI64, {5}},
                   {ElementType::kF16, {problem::kDynamic, 3}}},
                  {{ElementType::kF16, {problem::kDynamic, 3}}, {ElementType::kF32, {2, 3}}},
                  {},
                  {"input2.0"}}));
}

TEST(ProgramFunctions, TypesOfPyTorchLoseTheirSign) {
  EXPECT_EQ(problem::to_string(torch_type("!torch.vtensor<[1,?,64],si64>").value()), "1x?x64xi64");
  EXPECT_EQ(problem::to_string(torch_type("!torch.vtensor<[],f32>").value()), "f32");
  EXPECT_EQ(problem::to_string(torch_type("!torch.tensor<[4],ui8>").value()), "4xi8");
  for (const char* text :
       {"!torch.vtensor", "!torch.vtensor<*,f32>", "!torch.int", "!torch.vtensor<[3],!torch.str>",
        "!torch.vtensor<[3]>", "tensor<3xf32>"})
    EXPECT_FALSE(torch_type(text)) << text;
}

}  // namespace
}  // namespace hone::iree
