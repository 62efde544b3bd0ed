// What hone reads of the compiler as printed text, where its C interface has no words for it. A
// compiler that prints it in another way fails here, by name, and not as a wrong answer elsewhere.
#include <gmock/gmock.h>

#include "provider/iree/cpu/space.h"
#include "tests/provider_iree/compiler.h"

namespace hone::iree {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class PrintedForms : public testing::Test {
 protected:
  const problem::Program program_ = load("matmul_512.mlir", example("matmul_512.mlir"));
  const problem::Dispatch& dispatch_ = program_.dispatches.at(0);
};

// bindings.cc (access and type), root_operation.cc (types of operands).
TEST_F(PrintedForms, OfABindingsTypeAndAccess) {
  EXPECT_THAT(dispatch_.source,
              AllOf(HasSubstr("!iree_tensor_ext.dispatch.tensor<readonly:tensor<512x512xf32>>"),
                    HasSubstr("!iree_tensor_ext.dispatch.tensor<writeonly:tensor<512x512xf32>>")));
}

// llvm_cpu_lowering_config.cc, dispatch_ir.cc ("distribution = ", "#iree_cpu.pipeline").
TEST_F(PrintedForms, OfALoweringConfigurationAndItsPipeline) {
  EXPECT_THAT(dispatch_.default_configuration,
              AllOf(StartsWith("#iree_cpu.lowering_config<"), HasSubstr("distribution = [")));
  EXPECT_THAT(dispatch_.default_translation, HasSubstr("#iree_cpu.pipeline<"));
  const auto levels = lowering_config_levels(dispatch_.default_configuration);
  ASSERT_TRUE(levels) << levels.error().message;
  EXPECT_EQ(levels->at("distribution").size(), 3u);
}

// program.cc: the declaration that IREE leaves on what can be called.
TEST_F(PrintedForms, OfAFunctionsDeclaration) {
  const problem::TensorType type{problem::ElementType::kF32, {512, 512}};
  EXPECT_THAT(program_.functions,
              ElementsAre(problem::Function{"matmul_512", {type, type}, {type}}));
}

}  // namespace
}  // namespace hone::iree
