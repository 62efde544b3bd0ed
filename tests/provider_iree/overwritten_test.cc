#include <gmock/gmock.h>

#include "problem/npy.h"
#include "provider/iree/compiler/runtime_tools.h"
#include "provider/iree/program/program.h"
#include "provider/iree/whole_program.h"
#include "tests/provider_iree/compiler.h"

namespace hone::iree {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

template <typename T>
problem::Array filled(const problem::TensorType& type, T value) {
  const std::vector<T> elements(static_cast<std::size_t>(problem::element_count(type)), value);
  return {type,
          std::string(reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(T))};
}

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

// Beside a result, and with numbers as PyTorch passes them.
constexpr char kScaledStep[] = R"(
module @decoder {
  func.func @step(%state: !torch.tensor<[64,32],f32>, %x: !torch.vtensor<[64,32],f32>, %n: !torch.int) -> !torch.vtensor<[64,32],f32> {
    %old = torch.copy.to_vtensor %state : !torch.vtensor<[64,32],f32>
    %new = torch.aten.add.Tensor %old, %x, %n : !torch.vtensor<[64,32],f32>, !torch.vtensor<[64,32],f32>, !torch.int -> !torch.vtensor<[64,32],f32>
    torch.overwrite.tensor.contents %new overwrites %state : !torch.vtensor<[64,32],f32>, !torch.tensor<[64,32],f32>
    %twice = torch.aten.mul.Scalar %x, %n : !torch.vtensor<[64,32],f32>, !torch.int -> !torch.vtensor<[64,32],f32>
    return %twice : !torch.vtensor<[64,32],f32>
  }
})";

TEST(OverwrittenArguments, ComeBackFromACallBehindItsResults) {
  const auto program = load_program(compiler(), "step.mlir", kScaledStep, host_cpu_flags());
  ASSERT_TRUE(program) << program.error().message;
  ASSERT_EQ(program->functions.size(), 1u);
  const TemporaryFolder folder = TemporaryFolder::create("overwritten-").value();
  provider::ProgramCall call;
  call.function = program->functions.front();
  call.device = {"cpu", std::nullopt, {0}};
  EXPECT_EQ(problem::to_string(call.function.inputs.at(2)), "i64");
  const auto module = compile_program(compiler(), "step.mlir", kScaledStep, host_cpu_flags());
  ASSERT_TRUE(module) << module.error().message;
  call.module = folder.path() / "step.vmfb";
  ASSERT_TRUE(write_file_atomically(call.module, *module));
  const auto add = [&](const problem::Array& array) {
    call.inputs.push_back(folder.path() / fmt::format("{}.npy", call.inputs.size()));
    ASSERT_TRUE(write_file_atomically(call.inputs.back(), problem::to_npy(array)));
  };
  add(filled(call.function.inputs[0], 10.0f));
  add(filled(call.function.inputs[1], 1.0f));
  add(filled(call.function.inputs[2], std::int64_t{3}));
  const auto results = run_module(compiler().installation(), call, 2);
  ASSERT_TRUE(results) << results.error().message;
  EXPECT_EQ(results->at(0).bytes, filled(call.function.outputs[0], 3.0f).bytes);
  EXPECT_EQ(results->at(1).bytes, filled(call.function.outputs[1], 13.0f).bytes);
}

// What the program gives away, or names as room for what it returns, is no output.
TEST(OverwrittenArguments, AreNotThoseThatAreGivenAway) {
  constexpr char kConsumes[] = R"(
func.func @f(%a: tensor<8x4xf32> {iree.abi.consume}, %b: tensor<8x4xf32> {iree.abi.output = 0 : index}) -> tensor<8x4xf32> {
  %0 = arith.addf %a, %a : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
})";
  const auto program = load_program(compiler(), "consumes.mlir", kConsumes, avx512_flags());
  ASSERT_TRUE(program) << program.error().message;
  const problem::Function& function = program->functions.at(0);
  EXPECT_THAT(function.overwritten, IsEmpty());
  EXPECT_EQ(function.outputs.size(), 1u);
  // A second call would read what the first one left there.
  EXPECT_TRUE(function.keeps_state);
}

TEST(OverwrittenArguments, AreReturnedBehindWhatTheFunctionReturns) {
  provider::ProgramCall call;
  call.function.name = "step";
  call.inputs = {"a.npy", "b.npy", "c.npy"};
  call.function.outputs = {{problem::ElementType::kF32, {4}},
                           {problem::ElementType::kF32, {64, 32}}};
  EXPECT_EQ(returning_module(call), "");
  call.function.overwritten = {1};
  call.function.module = "decoder";
  call.function.inputs = {{problem::ElementType::kF32, {4}},
                          {problem::ElementType::kF32, {64, 32}},
                          {problem::ElementType::kI64, {}}};
  call.function.input_forms = {problem::ArgumentForm::kPlain, problem::ArgumentForm::kPlain,
                               problem::ArgumentForm::kScalar};
  EXPECT_THAT(returning_module(call),
              HasSubstr("    %r0 = util.call @decoder.step(%a0, %a1, %a2) : (!hal.buffer_view, "
                        "!hal.buffer_view, i64) -> (!hal.buffer_view)\n"
                        "    util.return %r0, %a1 : !hal.buffer_view, !hal.buffer_view\n"));
}

}  // namespace
}  // namespace hone::iree
