// What run.sh lets the outputs differ by: what hone itself has let them.
#include "provider/iree/compiler/proof_script.h"

#include <gmock/gmock.h>

namespace hone::iree {
namespace {

using problem::ElementType;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

provider::ProofScript script_of(std::vector<problem::TensorType> results,
                                std::vector<double> tolerances) {
  provider::ProofScript script;
  script.folder = "..";
  script.program = "model.mlir";
  script.flags_file = "out/compile_flags.txt";
  script.call.function = "main";
  script.call.device = {"cuda", 0, {}};
  script.call.results = std::move(results);
  script.tolerances = std::move(tolerances);
  return script;
}

TEST(ProofScript, AllowsOfEachTypeWhatItsResultsNeed) {
  const std::string text = proof_script(script_of({{ElementType::kF16, {8}},
                                                   {ElementType::kF32, {8}},
                                                   {ElementType::kF16, {4}},
                                                   {ElementType::kI32, {4}}},
                                                  {0.002, 2e-5, 0.03125, 0}));
  EXPECT_THAT(text, HasSubstr(" --expected_f16_threshold=0.031"));
  // The tool's own 1e-4 is more.
  EXPECT_THAT(text, Not(HasSubstr("--expected_f32_threshold")));
}

TEST(ProofScript, AllowsWhatTheToolDoesWhereResultsAreNotKnown) {
  EXPECT_THAT(proof_script(script_of({}, {0.5})), Not(HasSubstr("threshold")));
}

TEST(ProofScript, DoesNotFailByADefaultThatIsWrong) {
  provider::ProofScript script = script_of({{ElementType::kF16, {8}}}, {40});
  EXPECT_THAT(proof_script(script), EndsWith("--expected_f16_threshold=40\n"));
  script.default_is_wrong = true;
  EXPECT_THAT(proof_script(script),
              EndsWith(" ||\n  echo \"they differ, as they must: hone found the default's outputs "
                       "wrong (hone verify)\"\n"));
  EXPECT_THAT(proof_script(script), HasSubstr("\ncall tuned > /dev/null\n")) << "but it must run";
}

}  // namespace
}  // namespace hone::iree
