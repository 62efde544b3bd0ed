#include <gmock/gmock.h>

#include "provider/iree/compiler/runtime_tools.h"
#include "provider/iree/program/program.h"
#include "tests/provider_iree/compiler.h"

namespace hone::iree {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// As PyTorch exports a step that updates its state: it returns nothing.
constexpr char kStep[] = R"(
module @decoder {
  func.func @step(%state: !torch.tensor<[64,32],f32>, %x: !torch.vtensor<[64,32],f32>) {
    %one = torch.constant.int 1
    %old = torch.copy.to_vtensor %state : !torch.vtensor<[64,32],f32>
    %new = torch.aten.add.Tensor %old, %x, %one : !torch.vtensor<[64,32],f32>, !torch.vtensor<[64,32],f32>, !torch.int -> !torch.vtensor<[64,32],f32>
    torch.overwrite.tensor.contents %new overwrites %state : !torch.vtensor<[64,32],f32>, !torch.tensor<[64,32],f32>
    return
  }
})";

TEST(OverwrittenArguments, AreOutputs) {
  const auto program = load_program(compiler(), "step.mlir", kStep, avx512_flags());
  ASSERT_TRUE(program) << program.error().message;
  ASSERT_EQ(program->functions.size(), 1u);
  const problem::Function& step = program->functions.front();
  EXPECT_THAT(step.overwritten, ElementsAre(0));
  ASSERT_EQ(step.outputs.size(), 1u);
  EXPECT_EQ(problem::to_string(step.outputs.front()), "64x32xf32");
  EXPECT_EQ(step.module, "decoder");
  EXPECT_TRUE(step.keeps_state);
}

TEST(OverwrittenArguments, AreReturnedBehindWhatTheFunctionReturns) {
  provider::ProgramCall call;
  call.function = "step";
  call.inputs = {"a.npy", "b.npy"};
  call.results = {{problem::ElementType::kF32, {4}}, {problem::ElementType::kF32, {64, 32}}};
  EXPECT_EQ(returning_module(call), "");
  call.overwritten = {1};
  call.module_name = "decoder";
  EXPECT_THAT(returning_module(call),
              HasSubstr("    %r0 = util.call @decoder.step(%a0, %a1) : (!hal.buffer_view, "
                        "!hal.buffer_view) -> (!hal.buffer_view)\n"
                        "    util.return %r0, %a1 : !hal.buffer_view, !hal.buffer_view\n"));
}

}  // namespace
}  // namespace hone::iree
