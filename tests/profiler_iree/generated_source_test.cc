// What is generated compiles, for CUDA and a CPU, and each configuration is the one that the
// compiler uses.
#include <gmock/gmock.h>

#include "profiler/source.h"
#include "profiler/tree.h"
#include "provider/iree/whole_program.h"
#include "tests/provider_iree/compiler.h"

namespace hone::profiler {
namespace {

using testing::HasSubstr;

const std::vector<std::string> kCudaFlags = {"--iree-hal-target-device=cuda",
                                             "--iree-cuda-target=sm_80"};

NamedOperation operation_of(std::string_view name) {
  return parse_operation(name).value();
}

// The operation's tiles for sm_80 and the compiler's own choice; the latter alone for a CPU.
std::vector<TileConfiguration> configurations_of(const NamedOperation& operation, bool cuda) {
  std::vector<SkippedDispatch> left_out;
  auto configurations =
      tile_configurations(operation, cuda ? cuda_target("sm_80").value() : cpu_target(), left_out);
  configurations.push_back(default_configuration());
  return configurations;
}

void compiles(std::string_view name, bool cuda) {
  const NamedOperation operation = operation_of(name);
  const auto module =
      iree::compile_program(iree::compiler(), std::string(name) + ".mlir",
                            source_text(operation, configurations_of(operation, cuda)),
                            cuda ? kCudaFlags : iree::avx512_flags());
  EXPECT_TRUE(module) << module.error().message;
}

// A thin cut: every kind, every type, every layout, each once or twice.
constexpr std::string_view kThinCut[] = {
    "matmul_64x64x32_f16t_f16t_f16t",
    "matmul_7x33x31_s8n_s8t_s32t",
    "batch_matmul_2x64x64x32_bf16t_bf16n_bf16t",
    "matmul_splitk_64x64x128_f16n_f16n_f32t_parallel2",
    "conv2d_1x9x11x6_4x3x2_s2x1_d1x3_p1x0_g2_f32nchw_f32fchw_f32nchw",
    "conv2d_2x10x10x16_32x3x3_s1x1_d1x1_p0x0_g1_f16nhwc_f16hwcf_f16nhwc",
    "matmul_bias_relu_64x64x32_s8t_s8t_s32t",
    "matmul_bias_gelu_64x64x32_f16t_f16n_f16t",
    "matmul_bias_add_64x64x32_bf16t_bf16t_f32t",
    "conv2d_bias_relu_1x8x8x8_16x3x3_s1x1_d1x1_p1x1_g1_bf16nhwc_bf16hwcf_bf16nhwc",
    "attention_2x64x64x32_f16t_f16t_f16t",
};

TEST(GeneratedSource, CompilesForCuda) {
  for (const std::string_view name : kThinCut) compiles(name, true);
}

TEST(GeneratedSource, CompilesForACpu) {
  for (const std::string_view name : kThinCut) compiles(name, false);
}

// Dispatches by the function that they are of.
const problem::Dispatch* root_of(const problem::Program& program, const std::string& function) {
  for (const problem::Dispatch& dispatch : program.dispatches)
    if (dispatch.name.starts_with(function + "_dispatch_") && dispatch.root.loops.size() >= 3 &&
        dispatch.default_configuration.find("mma_kind") != std::string::npos)
      return &dispatch;
  return nullptr;
}

TEST(GeneratedSource, IsConfiguredAsItsNamesSay) {
  for (const std::string_view name :
       {"matmul_256x256x64_f16t_f16n_f16t", "matmul_256x256x64_f16n_f16t_f32t",
        "batch_matmul_1x128x64x64_bf16t_bf16t_bf16t",
        "matmul_splitk_64x64x128_f16t_f16t_f16t_parallel2",
        "matmul_bias_gelu_128x128x64_f16t_f16t_f16t",
        "conv2d_2x18x18x32_64x3x3_s1x1_d1x1_p0x0_g1_f16nhwc_f16hwcf_f16nhwc",
        "conv2d_2x16x16x32_64x3x3_s1x1_d1x1_p1x1_g1_f16nchw_f16fchw_f16nchw",
        "conv2d_3x32x32x64_64x3x3_s2x2_d1x1_p1x1_g1_f16nhwc_f16hwcf_f16nhwc",
        "conv2d_bias_relu_2x18x18x32_64x3x3_s1x1_d1x1_p0x0_g1_f16nchw_f16fchw_f32nchw"}) {
    const NamedOperation operation = operation_of(name);
    const auto configurations = configurations_of(operation, true);
    EXPECT_GE(configurations.size(), 2U) << name;
    const problem::Program program =
        iree::load(std::string(name) + ".mlir", source_text(operation, configurations), kCudaFlags);
    for (const TileConfiguration& configuration : configurations) {
      if (configuration.compilation_info.empty()) continue;
      const auto wanted =
          iree::canonical_attribute(iree::compiler(), configuration.compilation_info);
      ASSERT_TRUE(wanted) << wanted.error().message;
      const problem::Dispatch* const dispatch =
          root_of(program, operation.name() + "_" + configuration.name);
      ASSERT_NE(dispatch, nullptr) << name << " " << configuration.name;
      EXPECT_THAT(*wanted, HasSubstr(dispatch->default_configuration));
      // Inside another attribute its dialect is not printed.
      const std::string& translation = dispatch->default_translation;
      EXPECT_THAT(*wanted, HasSubstr(translation.substr(translation.find('<'))));
    }
  }
}

}  // namespace
}  // namespace hone::profiler
