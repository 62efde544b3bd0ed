// The proof of kernels in the places of operations, on this machine's cores: what stands in the
// place there is written as operations, since IREE calls no code of others on a CPU.
#include "session/external_proof.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <cstring>

#include "device/cpu/target.h"
#include "provider/iree/compile_worker.h"
#include "provider/iree/compiler/weights_in_blocks.h"
#include "tests/cli/hone_command.h"
#include "tests/device/places.h"
#include "tests/tune/silent_observer.h"
#include "worker/compile_pool.h"

namespace hone::cli {
namespace {

using namespace session;

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kProduct[] = R"(
func.func @forward(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x64xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%fill : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
})";

class ExternalProof : public HoneCommand {
 protected:
  void SetUp() override {
    HoneCommand::SetUp();
    const bool named = std::getenv("HONE_IREE") != nullptr;
    auto installation = iree::find_installation(named ? "" : HONE_SOURCE_DIR "/.venv");
    ASSERT_TRUE(installation) << installation.error().message;
    provider_.emplace(*installation, device::cpu::detect_target().value());
    worker::CompilePoolOptions workers;
    workers.command = {HONE_BINARY,
                       "worker",
                       "compile",
                       "--provider",
                       "iree",
                       "--installation",
                       installation->compiler_library.string()};
    workers.jobs = 1;
    auto pool = worker::CompilePool::start(workers);
    ASSERT_TRUE(pool) << pool.error().message;
    pool_ = std::move(*pool);
    compiler_.emplace(*pool_);
    const auto listed =
        compiler_->ask(iree::kReplaceableOperations, {"p.mlir", kProduct, compile_flags(options_)});
    ASSERT_TRUE(listed) << listed.error().message;
    ASSERT_EQ(listed->size(), 1u);
    dispatch_.operation = listed->front();
    dispatch_.comment = "a kernel of f16";
    for (const int binding : {0, 1})
      dispatch_.borders.push_back({binding, "tensor<64x64xf16>", {}});
  }

  tune::CompiledSide side(const std::string& label, const std::string& spec) const {
    tune::CompiledSide made{label, "p.mlir", kProduct, compile_flags(options_)};
    if (!spec.empty())
      made.flags.push_back(std::string(iree::kTransformSpecFlag) + write(label + ".mlir", spec));
    return made;
  }

  Result<std::vector<tune::ComparedPair>> priced(const ReplacedSides& sides) {
    tune::CompareOptions compare;
    compare.flags = compile_flags(options_);
    compare.rounds = compare.most_rounds = 8;
    compare.seconds = 0.002;
    compare.place = test::core_place();
    trial::RunnerService runner{worker::RunnerProcess(worker::RunnerOptions())};
    tune::SilentObserver observer;
    return price_replacements(
        {compare, *provider_, runner, observer, [] { return device::MachineState(); }}, *compiler_,
        {sides});
  }

  ToolchainOptions options_;
  std::optional<iree::CpuIreeProvider> provider_;
  std::unique_ptr<worker::CompilePool> pool_;
  std::optional<trial::CompileService> compiler_;
  iree::ExternDispatch dispatch_;
};

TEST_F(ExternalProof, WhatOnlyConversionsChangeIsRightAndItsErrorIsTold) {
  const std::string spec = iree::converted_spec_text({dispatch_});
  ReplacedSides sides{"program", side("without", ""), side("with", spec), side("converted", spec),
                      side("alone", "")};
  const auto pairs = priced(sides);
  ASSERT_TRUE(pairs) << pairs.error().message;
  ASSERT_EQ(pairs->size(), 2u);
  const tune::ComparedPair& program = pairs->front();
  EXPECT_THAT(program.failure, IsEmpty());
  EXPECT_THAT(program.note, HasSubstr("right but for its conversions: result 0 is "));
  ASSERT_TRUE(program.errors && program.errors->results.size() == 1);
  // Operands are rounded to 11 bits: each by at most 2^-11 of it.
  const auto& errors = program.errors->results.front();
  EXPECT_EQ(errors.a, 0);
  EXPECT_GT(errors.b, 1e-5);
  EXPECT_LT(errors.b, 1.0 / 1024);
  EXPECT_EQ(errors.converted, errors.b);
  EXPECT_EQ(program.a_seconds.size(), 8u);
  EXPECT_EQ(pairs->back().what, "program: borders");
  EXPECT_EQ(pairs->back().b_seconds.size(), 8u);
  const std::string text = text_of(Prices{*pairs, {}}, {});
  EXPECT_THAT(text, HasSubstr("program: error of result 0 by A: A 0, B "));
  EXPECT_THAT(text, HasSubstr("the conversions alone"));
}

// B A in the place of A B.
TEST_F(ExternalProof, WrongOutputsAreThatWhateverTheConversionsBring) {
  const std::string spec = iree::converted_spec_text({dispatch_});
  std::string wrong = spec;
  const std::string operands = "ins(%arg0, %arg1";
  wrong.replace(wrong.find(operands), operands.size(), "ins(%arg1, %arg0");
  const auto pairs = priced(
      {"program", side("without", ""), side("with", wrong), side("converted", spec), std::nullopt});
  ASSERT_TRUE(pairs) << pairs.error().message;
  EXPECT_THAT(pairs->front().failure, HasSubstr("B computes something else: result 0 is "));
  EXPECT_THAT(pairs->front().failure, HasSubstr("and its conversions alone bring"));
  EXPECT_FALSE(holds(Prices{*pairs, {}}));
}

// f32 values, each `times` as large as it should be.
problem::Array values(float times) {
  problem::Array array{{problem::ElementType::kF32, {3}}, std::string(3 * sizeof(float), 0)};
  const float each[] = {1 * times, -2 * times, 4 * times};
  std::memcpy(array.bytes.data(), each, sizeof each);
  return array;
}

TEST(OutputErrors, TwiceWhatConversionsBringIsRightAndMoreIsWrong) {
  const auto right = tune::output_errors({values(1)}, {values(1.01F)}, {}, {values(1.006F)});
  ASSERT_TRUE(right) << right.error().message;
  EXPECT_THAT(right->failure, IsEmpty());
  EXPECT_THAT(right->note, HasSubstr("result 0 is "));
  EXPECT_EQ(right->exact, "A");
  EXPECT_NEAR(right->results[0].b, 0.01, 1e-5);
  EXPECT_NEAR(*right->results[0].converted, 0.006, 1e-5);
  const auto wrong = tune::output_errors({values(1)}, {values(1.01F)}, {}, {values(1.004F)});
  EXPECT_THAT(wrong->failure,
              HasSubstr("its error is 0.01 of result 0 (root mean square), and its conversions "
                        "alone bring 0.004"));
  // Without conversions the tolerance of the type decides.
  EXPECT_THAT(tune::output_errors({values(1)}, {values(1.01F)}, {}, {})->failure,
              HasSubstr("result 0 is "));
  EXPECT_THAT(tune::output_errors({values(1)}, {values(1)}, {}, {})->failure, IsEmpty());
}

// One operation of a program by itself computes what it does there.
TEST_F(ExternalProof, AnOperationAloneIsAProgram) {
  const tune::CompiledSide program = side("program", "");
  tune::CompiledSide alone = program;
  alone.bytes = iree::program_of(dispatch_.operation);
  const auto pairs = priced({"operation", program, alone, std::nullopt, std::nullopt});
  ASSERT_TRUE(pairs) << pairs.error().message;
  EXPECT_THAT(pairs->front().failure, IsEmpty());
  EXPECT_EQ(pairs->front().errors->results.front().b, 0);
}

}  // namespace
}  // namespace hone::cli
