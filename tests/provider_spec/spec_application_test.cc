// Specs that iree-compile reads: what they configure, and what they leave alone.
#include <gmock/gmock.h>

#include "provider/iree/cpu/space.h"
#include "provider/iree/iree_provider.h"
#include "provider/iree/spec/tuning_spec.h"
#include "space/configuration.h"
#include "tests/provider_spec/programs.h"

namespace hone::iree {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// An entry with K blocked; `tiles` are the knobs without the batch.
TuningSpecEntry entry_of(const ContractionProgram& program, const std::string& tiles) {
  const space::Space space =
      llvm_cpu_contraction_space(program.root, avx512_target()).value().relax({"all"}).value();
  const auto configuration = space::parse_configuration(space, tiles);
  EXPECT_TRUE(configuration.has_value()) << configuration.error().message;
  const Attributes attributes =
      llvm_cpu_contraction_attributes(program.root, space, *configuration).value();
  return {program.root,
          attributes.lowering_config,
          attributes.translation_info,
          attributes.init_config,
          attributes.consumer_config,
          program.name,
          {},
          {},
          {},
          {},
          attributes.interchange};
}

constexpr char kBlocked[] =
    "dist_m=64,dist_n=128,cache_m=0,cache_n=64,cache_k=32,vec_m=8,vec_n=32,red_k=4,peel=0";

Compiled compile(const ContractionProgram& program, const std::string& spec,
                 const std::vector<std::string>& flags = {}) {
  const auto compiled = compile_with_spec(program.text, spec, flags);
  EXPECT_TRUE(compiled.has_value()) << compiled.error().message;
  EXPECT_TRUE(compiled->succeeded) << compiled->words;
  return *compiled;
}

// As the compiler prints it: levels in alphabetical order.
constexpr char kBlockedPrinted[] =
    "#iree_cpu.lowering_config<cache_parallel = [0, 64, 0], cache_reduction = [0, 0, 32], "
    "distribution = [64, 128, 0], vector_common_parallel = [8, 32, 0], vector_reduction = [0, 0, "
    "4]>";

TEST(SpecApplication, ConfiguresBareTransposedNarrowAndFusedContractions) {
  for (const ContractionProgram& program :
       {matmul_program(128, 256, 128), matmul_program(128, 256, 128, "f16"),
        transposed_program(128, 256, 128, true, false),
        transposed_program(128, 256, 128, false, true), bias_gelu_program(128, 256, 128)}) {
    const std::string spec = tuning_spec_text({entry_of(program, kBlocked)}, "test").value();
    const Compiled compiled = compile(program, spec);
    EXPECT_THAT(compiled.root_configs, ElementsAre(kBlockedPrinted)) << program.name;
    EXPECT_THAT(compiled.fill_configs,
                ElementsAre("#iree_cpu.lowering_config<vector_reduction = [8, 32]>"))
        << program.name;
  }
}

TEST(SpecApplication, ConfiguresABatchAndSeveralEntriesAtOnce) {
  const ContractionProgram batch = batch_program(12, 64, 128, 64);
  const TuningSpecEntry entry = entry_of(batch, fmt::format("dist_b=1,{}", kBlocked));
  const std::string spec =
      tuning_spec_text({entry_of(matmul_program(128, 256, 128), kBlocked), entry}).value();
  EXPECT_THAT(compile(batch, spec).root_configs,
              ElementsAre("#iree_cpu.lowering_config<cache_parallel = [0, 0, 64, 0], "
                          "cache_reduction = [0, 0, 0, 32], distribution = [1, 64, 128, 0], "
                          "vector_common_parallel = [1, 8, 32, 0], vector_reduction = [0, 0, 0, "
                          "4]>"));
  EXPECT_THAT(compile(matmul_program(128, 256, 128), spec).root_configs,
              ElementsAre(kBlockedPrinted));
}

TEST(SpecApplication, LeavesOtherOperationsToTheCompiler) {
  const std::string spec =
      tuning_spec_text({entry_of(matmul_program(128, 256, 128), kBlocked)}).value();
  for (const ContractionProgram& program :
       {matmul_program(128, 256, 64), matmul_program(128, 256, 128, "f16"),
        transposed_program(128, 256, 128, false, true), accumulating_program(128, 256, 128)})
    EXPECT_EQ(compile(program, spec).root_configs, compile(program, "").root_configs)
        << program.name;
}

// A bias that was broadcast before it, as convolutions have one under im2col: the fill comes only
// after specs are applied.
TEST(SpecApplication, ConfiguresAProductThatAccumulatesIntoWhatItIsGiven) {
  const ContractionProgram program = accumulating_program(128, 256, 128);
  const CpuIreeProvider provider({}, avx512_target());
  const auto spec_for = [&](const std::vector<std::string>& fused) {
    problem::Dispatch dispatch;
    dispatch.name = program.name;
    dispatch.root = program.root;
    dispatch.fused = fused;
    const space::Space space = provider.space_of(dispatch).value().relax({"all"}).value();
    const auto configuration = space::parse_configuration(space, kBlocked).value();
    return provider.specs()
        .text_of({{.name = program.name,
                   .root = program.root,
                   .payload = provider.payload_of(dispatch, space, configuration).value()}})
        .value();
  };
  EXPECT_THAT(compile(program, spec_for({})).root_configs, ElementsAre(kBlockedPrinted));
  EXPECT_THAT(compile(program, spec_for({"fill"})).root_configs,
              testing::Not(ElementsAre(kBlockedPrinted)));
}

// The compiler applies specs to operations whose data it then lays out anew: an entry for the old
// layout would fail to compile.
TEST(SpecApplication, DoesNothingUnderDataTiling) {
  const ContractionProgram program = matmul_program(128, 256, 128);
  const std::string spec = tuning_spec_text({entry_of(program, kBlocked)}).value();
  const std::vector<std::string> flags = {"--iree-opt-data-tiling"};
  EXPECT_EQ(compile(program, spec, flags).root_configs, compile(program, "", flags).root_configs);
}

// The entry's tiles are for the loops (m, n, k), which the program has as (n, m, k).
TEST(SpecApplication, InterchangesTheLoopsOfAProductWhoseOperandsAreSwapped) {
  const ContractionProgram program = swapped_program(128, 256, 128);
  TuningSpecEntry entry =
      entry_of(program,
               "dist_m=128,dist_n=64,cache_m=0,cache_n=0,cache_k=32,vec_m=32,vec_n=8,"
               "red_k=4,peel=0,interchange=1");
  const std::string printed =
      "#iree_cpu.lowering_config<cache_reduction = [0, 0, 32], distribution = [128, 64, 0], "
      "vector_common_parallel = [32, 8, 0], vector_reduction = [0, 0, 4]>";
  EXPECT_THAT(compile(program, tuning_spec_text({entry}).value()).root_configs,
              ElementsAre(printed));
  // Beside another entry, and kept to functions by name, of which one is the program's.
  TuningSpecEntry kept = entry;
  kept.functions = {"elsewhere", "main_dispatch_0_matmul_like_256x128x128_f32"};
  const TuningSpecEntry plain = entry_of(matmul_program(128, 256, 128), kBlocked);
  EXPECT_THAT(compile(program, tuning_spec_text({plain, kept}).value()).root_configs,
              ElementsAre(printed));
  kept.functions.pop_back();
  EXPECT_EQ(compile(program, tuning_spec_text({kept}).value()).root_configs,
            compile(program, "").root_configs);
  const std::vector<std::string> flags = {"--iree-opt-data-tiling"};
  EXPECT_EQ(compile(program, tuning_spec_text({entry}).value(), flags).root_configs,
            compile(program, "", flags).root_configs);
}

// One matcher cannot tell a matmul with something fused behind it from a bare one.
TEST(SpecApplication, MeetsFusedAndBareContractionsAlike) {
  const std::string spec =
      tuning_spec_text({entry_of(matmul_program(128, 256, 128), kBlocked)}).value();
  EXPECT_THAT(compile(bias_gelu_program(128, 256, 128), spec).root_configs,
              ElementsAre(kBlockedPrinted));
}

// What a matcher cannot see, the function's name tells.
TEST(SpecApplication, IsKeptToFunctionsByName) {
  const ContractionProgram program = matmul_program(128, 256, 128);
  TuningSpecEntry entry = entry_of(program, kBlocked);
  entry.functions = {"main_dispatch_7_matmul_128x256x128_f32", "elsewhere"};
  EXPECT_EQ(compile(program, tuning_spec_text({entry}).value()).root_configs,
            compile(program, "").root_configs);
  entry.functions.emplace_back("main_dispatch_0_matmul_128x256x128_f32");
  EXPECT_THAT(compile(program, tuning_spec_text({entry}).value()).root_configs,
              ElementsAre(kBlockedPrinted));
}

}  // namespace
}  // namespace hone::iree
