#include "provider/iree/whole_program.h"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include "provider/iree/program/derived_modules.h"
#include "tests/provider_iree/compiler.h"

namespace hone::iree {
namespace {

using ::testing::HasSubstr;

constexpr char kConfiguration[] =
    "#iree_cpu.lowering_config<distribution = [64, 64, 0], vector_common_parallel = [8, 32, 0], "
    "vector_reduction = [0, 0, 4]>";

// A spec that configures f32 matmuls of m x 512 x 512.
std::string spec(int m) {
  return fmt::format(R"(
module @spec attributes {{ transform.with_named_sequence,
                          iree_codegen.tuning_spec_with_default_entrypoint }} {{
  transform.named_sequence @apply(%op: !transform.any_op {{transform.readonly}},
                                  %config: !transform.any_param {{transform.readonly}}) {{
    transform.annotate %op "compilation_info" = %config : !transform.any_op, !transform.any_param
    transform.yield
  }}
  transform.named_sequence @match(%op: !transform.any_op {{transform.readonly}})
      -> (!transform.any_op, !transform.any_param) {{
    %batch, %m, %n, %k = transform.iree.match.contraction %op, lhs_type = f32, rhs_type = f32,
      output_type = f32,
      indexing_maps = [affine_map<(d0,d1,d2)->(d0,d2)>, affine_map<(d0,d1,d2)->(d2,d1)>,
                       affine_map<(d0,d1,d2)->(d0,d1)>] : !transform.any_op -> !transform.param<i64>
    transform.iree.match.dims_equal %m, [{}] : !transform.param<i64>
    %config = transform.param.constant #iree_codegen.compilation_info<lowering_config = {},
      translation_info = {}> -> !transform.any_param
    transform.yield %op, %config : !transform.any_op, !transform.any_param
  }}
  transform.named_sequence @__kernel_config(%v: !transform.any_op {{transform.consumed}})
      -> !transform.any_op attributes {{ iree_codegen.tuning_spec_entrypoint }} {{
    %res = transform.foreach_match in %v @match -> @apply : (!transform.any_op) -> !transform.any_op
    transform.yield %res : !transform.any_op
  }}
}})",
                     m, kConfiguration, kDoubleTiling);
}

// In a process of its own: the compiler keeps the path of a spec for all later sessions.
std::string configured_by(const std::string& spec_text,
                          const std::string& program = example("matmul_512.mlir"),
                          ModuleKind kind = ModuleKind::kProgram) {
  const auto folder = TemporaryFolder::create("hone-test-");
  const auto path = folder->path() / "spec.mlir";
  const auto result = folder->path() / "result";
  EXPECT_TRUE(write_file_atomically(path, spec_text));
  std::vector<std::string> flags = avx512_flags();
  flags.push_back("--iree-codegen-tuning-spec-path=" + path.string());
  const pid_t child = ::fork();
  if (child == 0) {
    const auto dispatches =
        configured_dispatches(compiler(), "matmul_512.mlir", program, flags, kind);
    const auto written = write_file_atomically(
        result, dispatches ? attributes_from(dispatches->at(0).payload)->lowering_config
                           : dispatches.error().message);
    ::_exit(written ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return read_file(result).value_or("the child process wrote no result");
}

// Whether IREE's runtime says so.
bool gives(const std::string& module, const std::string& function, const std::string& input,
           const std::string& expected) {
  const CompilerLibrary library = compiler();
  const auto folder = TemporaryFolder::create("hone-test-");
  const std::string path = (folder->path() / "m.vmfb").string();
  EXPECT_TRUE(write_file_atomically(path, module));
  const std::string command = library.installation().run_module.string() +
                              " --device=local-sync --module=" + path + " --function=" + function +
                              " --input=" + input + " --expected_output=" + expected +
                              " > /dev/null";
  return std::system(command.c_str()) == 0;
}

TEST(ConfiguredDispatches, ProvesThatASpecWasApplied) {
  EXPECT_EQ(configured_by(spec(512)), canonical_attribute(compiler(), kConfiguration).value());
}

TEST(ConfiguredDispatches, ShowsThatASpecMatchedNothing) {
  const std::string configured = configured_by(spec(1024));
  EXPECT_THAT(configured, HasSubstr("#iree_cpu.lowering_config<"));
  EXPECT_NE(configured, canonical_attribute(compiler(), kConfiguration).value());
}

TEST(CanonicalAttribute, IsTheSameForTheSameAttribute) {
  const CompilerLibrary library = compiler();
  EXPECT_EQ(canonical_attribute(library,
                                "#iree_cpu.lowering_config<vector_reduction=[0,0,4], "
                                "distribution=[64,64,0]>")
                .value(),
            "#iree_cpu.lowering_config<distribution = [64, 64, 0], vector_reduction = [0, 0, 4]>");
  const auto wrong = canonical_attribute(library, "#iree_cpu.lowering_config<distribution");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().kind, ErrorKind::kInput);
}

TEST(CompileProgram, GivesAModuleThatIreesRuntimeRuns) {
  const CompilerLibrary library = compiler();
  const auto module =
      compile_program(library, "matmul_512.mlir", example("matmul_512.mlir"), host_cpu_flags());
  ASSERT_TRUE(module) << module.error().message;
  // Every element of the product of two matrices of ones is 512.
  EXPECT_TRUE(
      gives(*module, "matmul_512", "512x512xf32=1 --input=512x512xf32=1", "512x512xf32=512"));
}

TEST(FrontendIr, LeadsToTheModuleOfAWholeCompile) {
  const std::string program = example("feed_forward.mlir");
  for (const std::vector<std::string>& flags :
       {avx512_flags(),
        {"--iree-hal-target-device=cuda", "--iree-cuda-target=sm_80", "--iree-opt-level=O2"}}) {
    const auto ir = frontend_ir(compiler(), "feed_forward.mlir", program, flags);
    ASSERT_TRUE(ir) << ir.error().message;
    const auto rest =
        compile_program(compiler(), "feed_forward.mlir", *ir, flags, ModuleKind::kFrontendIr);
    const auto whole = compile_program(compiler(), "feed_forward.mlir", program, flags);
    ASSERT_TRUE(rest && whole) << (rest ? whole : rest).error().message;
    EXPECT_TRUE(*rest == *whole);
  }
}

// The form of constants of every export from PyTorch: 32 elements, since IREE has small ones in
// another attribute. Two in one buffer, and a global's.
constexpr char kResources[] = R"(
util.global private @w = dense_resource<w> : tensor<16x2xf32>
func.func @f(%x: tensor<2x16xf32>) -> (tensor<2x2xf32>, tensor<32xf16>) {
  %w = util.global.load @w : tensor<16x2xf32>
  %h = arith.constant dense_resource<h> : tensor<32xf16>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x2xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<2x2xf32>) -> tensor<2x2xf32>
  %y = linalg.matmul ins(%x, %w : tensor<2x16xf32>, tensor<16x2xf32>) outs(%f : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %y, %h : tensor<2x2xf32>, tensor<32xf16>
}
{-# dialect_resources: { builtin: { w: "0x04000000WEIGHTS", h: "0x04000000HALVES" } } #-}
)";

std::string repeated(std::string_view word, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += word;
  return all;
}

// 16 products of 1 and 2.
TEST(FrontendIr, KeepsConstantsThatAreResources) {
  std::string program = kResources;
  program.replace(program.find("WEIGHTS"), 7, repeated("00000040", 32));
  program.replace(program.find("HALVES"), 6, repeated("003C", 32));
  const auto ir = frontend_ir(compiler(), "p.mlir", program, host_cpu_flags());
  ASSERT_TRUE(ir) << ir.error().message;
  const auto module =
      compile_program(compiler(), "p.mlir", *ir, host_cpu_flags(), ModuleKind::kFrontendIr);
  ASSERT_TRUE(module) << module.error().message;
  EXPECT_TRUE(gives(*module, "f", "2x16xf32=1", "2x2xf32=32 --expected_output=32xf16=1"));
}

// What a program from PyTorch takes is read from its own text, before the frontend IR.
const std::string kTorch = R"(
func.func @first(%a: !torch.vtensor<[4],si64>, %b: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %one = torch.constant.int 1
  %c = torch.aten.add.Scalar %b, %one, %one : !torch.vtensor<[4],f32>, !torch.int, !torch.int -> !torch.vtensor<[4],f32>
  return %c : !torch.vtensor<[4],f32>
})";

TEST(FrontendIr, IsWhatAProgramIsSplitFrom) {
  for (const std::string& program : {example("feed_forward.mlir"), kTorch}) {
    std::string made;
    const auto split =
        load_program(compiler(), "p.mlir", program, avx512_flags(), {}, {.frontend = &made});
    ASSERT_TRUE(split) << split.error().message;
    auto ir = frontend_ir(compiler(), "p.mlir", program, avx512_flags());
    ASSERT_TRUE(ir) << ir.error().message;
    EXPECT_FALSE(made.empty());
    const auto rest =
        load_program(compiler(), "p.mlir", program, avx512_flags(), {}, {.frontend = &*ir});
    ASSERT_TRUE(rest) << rest.error().message;
    EXPECT_EQ(nlohmann::json(*rest), nlohmann::json(*split));
  }
}

TEST(ConvertedIr, IsWhatAProgramIsSplitFromUnderFlagsOfLaterPhases) {
  std::string converted;
  const std::vector<std::string> gpu = {"--iree-hal-target-device=cuda",
                                        "--iree-cuda-target=sm_80"};
  ASSERT_TRUE(load_program(compiler(), "p.mlir", kTorch, gpu, {}, {.converted = &converted}));
  // Torch's operations are gone, and nothing is split yet.
  const auto holds = [&](const char* word) { return converted.find(word) != std::string::npos; };
  EXPECT_FALSE(converted.empty() || holds("aten") || holds("flow.executable"));
  std::vector<std::string> flags = avx512_flags();
  flags.push_back("--iree-dispatch-creation-enable-aggressive-fusion");
  const auto split = load_program(compiler(), "p.mlir", kTorch, flags);
  const auto shared =
      load_program(compiler(), "p.mlir", kTorch, flags, {}, {.converted = &converted});
  ASSERT_TRUE(split && shared);
  EXPECT_EQ(nlohmann::json(*shared), nlohmann::json(*split));
}

TEST(FrontendIr, TakesASpecAfterwards) {
  const auto ir =
      frontend_ir(compiler(), "matmul_512.mlir", example("matmul_512.mlir"), avx512_flags());
  ASSERT_TRUE(ir) << ir.error().message;
  EXPECT_EQ(configured_by(spec(512), *ir, ModuleKind::kFrontendIr),
            canonical_attribute(compiler(), kConfiguration).value());
}

// Adding one to 2048 changes nothing in f16. Programs from PyTorch and ONNX take buffers that say
// which type they hold.
TEST(CompileProgramInF32, ComputesInF32) {
  for (const std::string program : {R"(
func.func @add(%a: tensor<4xf16>) -> tensor<4xf16> {
  %one = arith.constant dense<1.0> : tensor<4xf16>
  %b = arith.addf %a, %one : tensor<4xf16>
  return %b : tensor<4xf16>
})",
                                    R"(
func.func @add(%a: !torch.vtensor<[4],f16>) -> !torch.vtensor<[4],f16> {
  %one = torch.constant.int 1
  %b = torch.aten.add.Scalar %a, %one, %one : !torch.vtensor<[4],f16>, !torch.int, !torch.int -> !torch.vtensor<[4],f16>
  return %b : !torch.vtensor<[4],f16>
})"}) {
    const auto narrow = compile_program(compiler(), "add.mlir", program, host_cpu_flags());
    const auto wide = compile_program_in_f32(compiler(), "add.mlir", program, host_cpu_flags());
    ASSERT_TRUE(narrow) << narrow.error().message;
    ASSERT_TRUE(wide) << wide.error().message;
    EXPECT_TRUE(gives(*narrow, "add", "4xf16=2048", "4xf16=2048"));
    EXPECT_TRUE(gives(*wide, "add", "4xf32=2048", "4xf32=2049"));
  }
}

// As the compiler of IREE 3.13 leaves it.
TEST(CompileProgramInF32, ReadsParametersAsNarrowAsTheyAre) {
  EXPECT_EQ(widen_behind_loads(R"(module {
  util.global private @w : tensor<4xf32> = #stream.parameter.named<"model"::"w"> : tensor<4xf16>
  util.global private @n = #stream.parameter.named<"model"::"n"> : tensor<4xi64>
  util.func public @f() {
    %w = util.global.load immutable @w : tensor<4xf32>
    %n = util.global.load @n : tensor<4xi64>
)"),
            R"(module {
  util.global private @w = #stream.parameter.named<"model"::"w"> : tensor<4xf16>
  util.global private @n = #stream.parameter.named<"model"::"n"> : tensor<4xi64>
  util.func public @f() {
%narrow_parameter_0 = util.global.load immutable @w : tensor<4xf16>
    %w = arith.extf %narrow_parameter_0 : tensor<4xf16> to tensor<4xf32>
    %n = util.global.load @n : tensor<4xi64>
)");
  const auto compiled = compile_program_in_f32(compiler(), "add.mlir", R"(
util.global private @w = #stream.parameter.named<"model"::"w"> : tensor<4xf16>
func.func @add(%a: tensor<4xf16>) -> tensor<4xf16> {
  %w = util.global.load @w : tensor<4xf16>
  %b = arith.addf %a, %w : tensor<4xf16>
  return %b : tensor<4xf16>
})",
                                               host_cpu_flags());
  EXPECT_TRUE(compiled) << compiled.error().message;
}

TEST(CompileProgram, TakesWholeProgramFlags) {
  const CompilerLibrary library = compiler();
  std::vector<std::string> flags = avx512_flags();
  const auto plain = compile_program(library, "m.mlir", example("matmul_512.mlir"), flags);
  flags.emplace_back("--iree-opt-data-tiling");
  const auto tiled = compile_program(library, "m.mlir", example("matmul_512.mlir"), flags);
  ASSERT_TRUE(plain && tiled);
  EXPECT_TRUE(*plain != *tiled);
}

// IREE leaves such a pipeline out, with a line on stderr and no error.
TEST(CompileProgram, RefusesAPipelineThatTheCompilerWouldLeaveOut) {
  const auto with_pass = [](const std::string& passes) {
    std::vector<std::string> flags = avx512_flags();
    flags.push_back("--iree-preprocessing-pass-pipeline=builtin.module(" + passes + ")");
    return compile_program(compiler(), "m.mlir", example("matmul_512.mlir"), flags);
  };
  const auto misplaced = with_pass("util.func(iree-preprocessing-pad-to-intrinsics)");
  ASSERT_FALSE(misplaced);
  EXPECT_THAT(misplaced.error().message,
              HasSubstr("Can't add pass 'PadToIntrinsicsPass' restricted to 'builtin.module'"));
  const auto unknown = with_pass("no-such-pass");
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message,
              HasSubstr("'no-such-pass' does not refer to a registered pass"));
  EXPECT_TRUE(with_pass("util.func(iree-preprocessing-convert-conv-to-channels-last)"));
}

// The dumps hold what the compiler configured; taken back, they compile to the program's own code.
TEST(LoadProgram, AcceptsTheCompilersBenchmarkFiles) {
  const CompilerLibrary library = compiler();
  const auto folder = TemporaryFolder::create("hone-test-");
  ASSERT_TRUE(folder);
  std::vector<std::string> flags = avx512_flags();
  flags.push_back("--iree-hal-dump-executable-benchmarks-to=" + folder->path().string());
  ASSERT_TRUE(compile_program(library, "feed_forward.mlir", example("feed_forward.mlir"), flags));
  const problem::Program whole = load("feed_forward.mlir", example("feed_forward.mlir"));
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder->path())) {
    ++files;
    const problem::Program dumped = load(entry.path().string(), read_file(entry.path()).value());
    ASSERT_EQ(dumped.dispatches.size(), 1u);
    const problem::Dispatch& from_file = dumped.dispatches[0];
    const bool first = from_file.executable == "feed_forward_dispatch_0";
    const problem::Dispatch& from_program = whole.dispatches.at(first ? 0 : 1);
    EXPECT_EQ(from_file.root, from_program.root);
    EXPECT_EQ(from_file.bindings, from_program.bindings);
    EXPECT_EQ(from_file.fused, from_program.fused);
    EXPECT_EQ(from_file.default_configuration, from_program.default_configuration);
    EXPECT_EQ(from_file.launches_per_call, 1);
    EXPECT_EQ(from_file.not_tunable, "");
    const auto a = prepare(from_file).compile(std::nullopt);
    const auto b = prepare(from_program).compile(std::nullopt);
    ASSERT_TRUE(a && b);
    EXPECT_EQ(provider::identity(*a), provider::identity(*b));
  }
  EXPECT_EQ(files, 2);
}

// A GPU's dump is configured for it, AMD's with buffers of a form of its own; for the host it gives
// the dispatch's reference. Its function only launches the kernel.
class GpuBenchmarkFiles : public testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(GpuBenchmarkFiles, AreRetargetedToTheHost) {
  const auto& [target, program] = GetParam();
  const CompilerLibrary library = compiler();
  const auto folder = TemporaryFolder::create("hone-test-");
  ASSERT_TRUE(folder);
  const std::vector<std::string> gpu = gpu_flags(*problem::gpu_target(target));
  std::vector<std::string> dumping = gpu;
  dumping.push_back("--iree-hal-dump-executable-benchmarks-to=" + folder->path().string());
  const std::string text = example(program);
  ASSERT_TRUE(compile_program(library, program, text, dumping));
  const auto whole = load_program(library, program, text, gpu);
  ASSERT_TRUE(whole) << whole.error().message;
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder->path())) {
    ++files;
    const std::string bytes = read_file(entry.path()).value();
    for (const std::vector<std::string>& flags : {gpu, avx512_flags()}) {
      const auto dumped = load_program(library, entry.path().string(), bytes, flags);
      // AMD's attention takes a part of a buffer.
      const bool takes_parts = bytes.find("memref.subview") != std::string::npos;
      if (takes_parts && std::string_view(target) == "gfx942") {
        ASSERT_FALSE(dumped);
        EXPECT_THAT(dumped.error().message, HasSubstr("hone tune PROGRAM --benchmark FILE"));
        continue;
      }
      ASSERT_TRUE(dumped) << dumped.error().message;
      EXPECT_TRUE(dumped->functions.empty());
      ASSERT_EQ(dumped->dispatches.size(), 1u);
      const problem::Dispatch& from_file = dumped->dispatches[0];
      const auto from_program =
          std::ranges::find(whole->dispatches, from_file.name, &problem::Dispatch::name);
      ASSERT_NE(from_program, whole->dispatches.end()) << from_file.name;
      EXPECT_EQ(from_file.root.kind, from_program->root.kind);
      EXPECT_EQ(from_file.root.loops, from_program->root.loops);
      EXPECT_EQ(from_file.bindings, from_program->bindings) << from_file.name;
      const bool is_host = from_file.source.find("embedded-elf-x86_64") != std::string::npos;
      EXPECT_EQ(is_host, flags != gpu);
    }
  }
  EXPECT_EQ(files, whole->dispatches.size());
}

INSTANTIATE_TEST_SUITE_P(Programs, GpuBenchmarkFiles,
                         testing::Combine(testing::Values("gfx942", "sm_80"),
                                          testing::Values("feed_forward_f16.mlir",
                                                          "attention_block.mlir")));

}  // namespace
}  // namespace hone::iree
