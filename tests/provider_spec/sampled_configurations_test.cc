// The compiler's word on the space: what hone calls legal compiles and is applied.
#include <gtest/gtest.h>

#include "provider/iree/cpu/space.h"
#include "provider/iree/spec/tuning_spec.h"
#include "space/configuration.h"
#include "tests/provider_spec/programs.h"

namespace hone::iree {
namespace {

struct Sampled {
  int compiled_and_applied = 0;
  std::string failures;
};

// Compiles `count` configurations through a tuning spec and compares each with that in the IR.
Sampled compile_samples(const ContractionProgram& program, const space::Space& space,
                        std::size_t count, std::uint64_t seed) {
  Sampled result;
  const auto samples = space.samples(count, seed).value();
  for (const space::Configuration& configuration : samples) {
    const auto attributes =
        llvm_cpu_contraction_attributes(program.root, space, configuration).value();
    const std::string spec =
        tuning_spec_text({{program.root, attributes.lowering_config, attributes.translation_info,
                           attributes.init_config, attributes.consumer_config, program.name}})
            .value();
    const auto compiled = compile_with_spec(program.text, spec);
    std::string wrong;
    if (!compiled) {
      wrong = compiled.error().message;
    } else if (!compiled->succeeded) {
      wrong = compiled->words.substr(0, 300);
    } else if (compiled->root_configs.size() != 1) {
      wrong = "no configured root operation";
    } else {
      if (*lowering_config_levels(compiled->root_configs[0]) !=
              *lowering_config_levels(attributes.lowering_config) ||
          compiled->translation_infos.at(0) != attributes.translation_info)
        wrong = "not applied: " + compiled->root_configs[0] + compiled->translation_infos.at(0);
    }
    if (wrong.empty())
      ++result.compiled_and_applied;
    else
      result.failures += to_string(space, configuration) + ": " + wrong + "\n";
  }
  return result;
}

class SampledConfigurations : public testing::TestWithParam<ContractionProgram> {};

TEST_P(SampledConfigurations, CompileAndAreApplied) {
  const ContractionProgram& program = GetParam();
  const auto space = llvm_cpu_contraction_space(program.root, avx512_target(),
                                                {.fused_consumers = program.fused_consumers});
  ASSERT_TRUE(space.has_value()) << space.error().message;
  constexpr int kCount = 10;
  const Sampled sampled = compile_samples(program, *space, kCount, 1);
  EXPECT_EQ(sampled.compiled_and_applied, kCount) << sampled.failures;
}

INSTANTIATE_TEST_SUITE_P(Programs, SampledConfigurations,
                         testing::Values(matmul_program(512, 512, 512),
                                         matmul_program(384, 512, 1536),
                                         matmul_program(2048, 1280, 1280, "f16"),
                                         bias_gelu_program(128, 3072, 768),
                                         transposed_program(256, 512, 128, false, true),
                                         transposed_program(256, 512, 128, true, false),
                                         batch_program(12, 128, 64, 128)),
                         [](const auto& program) { return program.param.name; });

// Outside the soft rules the compiler may meet what no rule foresees, but rarely.
TEST(SampledConfigurations, CompileAndAreAppliedWithoutTheSoftRulesToo) {
  const ContractionProgram program = matmul_program(96, 160, 64);
  const space::Space space =
      llvm_cpu_contraction_space(program.root, avx512_target()).value().relax({"all"}).value();
  constexpr int kCount = 20;
  const Sampled sampled = compile_samples(program, space, kCount, 1);
  EXPECT_GE(sampled.compiled_and_applied, kCount - 1) << sampled.failures;
}

}  // namespace
}  // namespace hone::iree
