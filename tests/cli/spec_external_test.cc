// hone spec external: MISA's convolution in a program for gfx942, without MISA and without a GPU.
#include <gmock/gmock.h>

#include "device/cuda/toolkit.h"
#include "session/external_placement.h"
#include "tests/cli/hone_command.h"
#include "tests/provider/code_object_file.h"

namespace hone::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::uint8_t kGfx940 = 0x40, kGfx942 = 0x4c;

// The convolution of two images, with what `behind` makes of %r, its result.
std::string convolution(const std::string& operation, const std::string& filter,
                        const std::string& type = "f16", const std::string& behind = {}) {
  return fmt::format(R"(
func.func @forward(%x: tensor<2x34x34x1280xf16>, %w: tensor<{1}xf16>) -> tensor<2x32x32x1280x{2}> {{
  %zero = arith.constant 0.0 : {2}
  %empty = tensor.empty() : tensor<2x32x32x1280x{2}>
  %fill = linalg.fill ins(%zero : {2}) outs(%empty : tensor<2x32x32x1280x{2}>) -> tensor<2x32x32x1280x{2}>
  %c = linalg.{0} ins(%x, %w : tensor<2x34x34x1280xf16>, tensor<{1}xf16>)
      outs(%fill : tensor<2x32x32x1280x{2}>) -> tensor<2x32x32x1280x{2}>
{3}  return %{4} : tensor<2x32x32x1280x{2}>
}})",
                     operation, filter, type, behind, behind.empty() ? "c" : "r");
}

// One that sums in f32 and is a generic, as what comes from PyTorch is after a transposition.
std::string generic_in_f32() {
  return R"(
#image = affine_map<(n, h, w, o, y, x, c) -> (n, h + y, w + x, c)>
#filter = affine_map<(n, h, w, o, y, x, c) -> (o, y, x, c)>
#output = affine_map<(n, h, w, o, y, x, c) -> (n, h, w, o)>
#same = affine_map<(n, h, w, o) -> (n, h, w, o)>
func.func @forward(%x: tensor<2x34x34x1280xf16>, %w: tensor<1280x3x3x1280xf16>) -> tensor<2x32x32x1280xf16> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2x32x32x1280xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x32x32x1280xf32>) -> tensor<2x32x32x1280xf32>
  %sums = linalg.generic {indexing_maps = [#image, #filter, #output],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<2x34x34x1280xf16>, tensor<1280x3x3x1280xf16>) outs(%fill : tensor<2x32x32x1280xf32>) {
  ^bb0(%a: f16, %b: f16, %sum: f32):
    %wide_a = arith.extf %a : f16 to f32
    %wide_b = arith.extf %b : f16 to f32
    %product = arith.mulf %wide_a, %wide_b : f32
    %added = arith.addf %sum, %product : f32
    linalg.yield %added : f32
  } -> tensor<2x32x32x1280xf32>
  %half = tensor.empty() : tensor<2x32x32x1280xf16>
  %r = linalg.generic {indexing_maps = [#same, #same],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%sums : tensor<2x32x32x1280xf32>) outs(%half : tensor<2x32x32x1280xf16>) {
  ^bb0(%a: f32, %b: f16):
    %narrow = arith.truncf %a : f32 to f16
    linalg.yield %narrow : f16
  } -> tensor<2x32x32x1280xf16>
  return %r : tensor<2x32x32x1280xf16>
})";
}

// A product of 64 x 128 and 128 x 256 with a bias and, where `activation` is not empty, what that
// is behind it: lines of a body that make %j of %x.
std::string product_with_bias(const std::string& activation, const std::string& type = "f32") {
  return fmt::format(R"(
#same = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (n)>
func.func @forward(%a: tensor<64x128xf16>, %b: tensor<128x256xf16>, %bias: tensor<256xf32>) -> tensor<64x256x{1}> {{
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %root2 = arith.constant 1.41421354 : f32
  %empty = tensor.empty() : tensor<64x256xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x256xf32>) -> tensor<64x256xf32>
  %sums = linalg.matmul ins(%a, %b : tensor<64x128xf16>, tensor<128x256xf16>) outs(%fill : tensor<64x256xf32>) -> tensor<64x256xf32>
  %biased = linalg.generic {{indexing_maps = [#same, #row, #same], iterator_types = ["parallel", "parallel"]}}
      ins(%sums, %bias : tensor<64x256xf32>, tensor<256xf32>) outs(%empty : tensor<64x256xf32>) {{
  ^bb0(%x: f32, %y: f32, %o: f32):
    %z = arith.addf %x, %y : f32
    linalg.yield %z : f32
  }} -> tensor<64x256xf32>
  %place = tensor.empty() : tensor<64x256x{1}>
  %g = linalg.generic {{indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}}
      ins(%biased : tensor<64x256xf32>) outs(%place : tensor<64x256x{1}>) {{
  ^bb0(%x: f32, %o: {1}):
{0}    linalg.yield %j : {1}
  }} -> tensor<64x256x{1}>
  return %g : tensor<64x256x{1}>
}})",
                     activation, type);
}

constexpr char kRelu[] = "    %j = arith.maximumf %x, %zero : f32\n";
constexpr char kGelu[] = R"(    %q = arith.divf %x, %root2 : f32
    %e = math.erf %q : f32
    %f = arith.addf %e, %one : f32
    %h = arith.mulf %x, %half : f32
    %i = arith.mulf %h, %f : f32
    %j = arith.truncf %i : f32 to f16
)";

class SpecExternal : public HoneCommand {
 protected:
  void SetUp() override {
    HoneCommand::SetUp();
    write("conv.mlir", convolution("conv_2d_nhwc_fhwc", "1280x3x3x1280"));
    manifest_ = write("misa_conv.yaml",
                      read_file(HONE_SOURCE_DIR "/examples/external/misa_conv.yaml").value());
    write_object(kGfx942);
  }

  void write_object(std::uint8_t processor) const {
    write("misa_conv.hsaco", test::code_object_file(processor, {test::misa_kernel()}));
  }

  std::vector<std::string> arguments(const std::string& program,
                                     const std::vector<std::string>& more = {}) const {
    std::vector<std::string> all{"spec",     "external", program, "--external", manifest_,
                                 "--target", "gfx942",   "--out", "out"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  std::string refusal(const std::string& program, const std::vector<std::string>& more = {}) const {
    const Ran ran = hone(arguments(program, more));
    EXPECT_EQ(ran.exit_code, 2) << ran.err;
    EXPECT_FALSE(std::filesystem::exists(folder() / "out" / "external_spec.mlir"));
    return ran.err;
  }

  // A kernel that reads a bias behind its sums, with more lines in its manifest. It has no code:
  // what is launched with what is all that is looked at.
  void write_biased_kernel(const std::string& result, const std::string& more = {}) {
    write("biased.hsaco", test::code_object_file(kGfx942, {{{".name", "biased"},
                                                            {".args", test::arguments_of(4, 0)},
                                                            {".kernarg_segment_size", 32},
                                                            {".group_segment_fixed_size", 0},
                                                            {".max_flat_workgroup_size", 256},
                                                            {".wavefront_size", 64}}}));
    manifest_ = write("biased.yaml", fmt::format(R"(kernel: biased
operation: matmul
operands:
  A: {{type: f16, layout: [M, K]}}
  B: {{type: f16, layout: [K, N]}}
  bias: {{type: f32, layout: [N]}}
  C: {{type: {}, layout: [M, N]}}
object: biased.hsaco
arguments: [A, B, bias, C]
grid: M // 64
block: 256
{})",
                                                 result, more));
  }

  // What iree-compile makes of the program with nothing but --out.
  std::string compiled_to(const std::string& phase) const {
    Command command;
    command.arguments = {HONE_SOURCE_DIR "/.venv/bin/iree-compile", "conv.mlir",
                         "@out/compile_flags.txt", "--compile-to=" + phase};
    command.folder = folder();
    ProcessLimits limits;
    limits.output_bytes = std::size_t{16} << 20;
    const auto result = run_process(command, limits);
    EXPECT_TRUE(result && result->succeeded());
    return result ? result->standard_output.text() : "";
  }

  std::string manifest_;
};

TEST_F(SpecExternal, MisasConvolutionIsLaunchedWithWhatItPrinted) {
  const auto kernel = json(arguments("conv.mlir", {"--json"})).at("kernels").at(0);
  EXPECT_THAT(kernel.at("grid"), ElementsAre(160, 1, 1));
  EXPECT_THAT(kernel.at("block"), ElementsAre(256, 1, 1));
  EXPECT_EQ(kernel.at("argument_bytes"), 128);
  EXPECT_EQ(kernel.at("zeroed"), true);
  std::vector<std::uint32_t> values;
  for (const auto& argument : kernel.at("arguments"))
    if (argument.contains("value")) values.push_back(argument.at("value"));
  EXPECT_THAT(values, ElementsAre(34, 34, 2, 1280, 1280, 32, 32, 1, 1, 1, 1, 0, 0, 3, 3, 1,
                                  2576980378, 1, 1, 2576980378, 4, 30475536, 134547972, 16, 0, 0));
  // Of 2 x 34 x 34 x 1280, 1280 x 9 x 1280 and 2 x 1024 x 1280 values of two bytes.
  EXPECT_EQ(kernel.at("arguments")[0].at("points_to_bytes"), 5918720);
  EXPECT_EQ(kernel.at("arguments")[1].at("points_to_bytes"), 29491200);
  EXPECT_EQ(kernel.at("arguments")[2].at("points_to_bytes"), 5242880);

  // The compiler alone: no copy of an operand, zeros before the launch, the printed magic number
  // (2576980378 - 2**32).
  const std::string text = compiled_to("executable-sources");
  EXPECT_THAT(text, HasSubstr("stream.cmd.dispatch @extern_dispatch"));
  EXPECT_THAT(text, HasSubstr("stream.cmd.fill %c0_i8"));
  EXPECT_THAT(text, Not(HasSubstr("stream.cmd.copy")));
  EXPECT_THAT(text, HasSubstr("arith.constant -1717986918 : i32"));
  EXPECT_THAT(compiled_to("end"),
              HasSubstr(read_file((folder() / "misa_conv.hsaco").string()).value()));
}

TEST_F(SpecExternal, AGenericThatIsNarrowedBehindItsSumsIsTheSameOperation) {
  write("generic.mlir", generic_in_f32());
  const auto kernel = json(arguments("generic.mlir", {"--json"})).at("kernels").at(0);
  EXPECT_THAT(kernel.at("operation").get<std::string>(), HasSubstr("linalg.generic("));
  EXPECT_THAT(kernel.at("grid"), ElementsAre(160, 1, 1));
}

// A program with channels first has no such convolution until preprocessing has made it one, with
// transpositions around it: a generic with loops in another order.
TEST_F(SpecExternal, OperationsAreThoseBehindTheUsersPreprocessing) {
  write("first.mlir", R"(
#same = affine_map<(n, o, h, w) -> (n, o, h, w)>
func.func @forward(%x: tensor<2x1280x34x34xf16>, %w: tensor<1280x1280x3x3xf16>) -> tensor<2x1280x32x32xf16> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2x1280x32x32xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x1280x32x32xf32>) -> tensor<2x1280x32x32xf32>
  %sums = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<2x1280x34x34xf16>, tensor<1280x1280x3x3xf16>)
      outs(%fill : tensor<2x1280x32x32xf32>) -> tensor<2x1280x32x32xf32>
  %half = tensor.empty() : tensor<2x1280x32x32xf16>
  %r = linalg.generic {indexing_maps = [#same, #same],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%sums : tensor<2x1280x32x32xf32>) outs(%half : tensor<2x1280x32x32xf16>) {
  ^bb0(%a: f32, %b: f16):
    %narrow = arith.truncf %a : f32 to f16
    linalg.yield %narrow : f16
  } -> tensor<2x1280x32x32xf16>
  return %r : tensor<2x1280x32x32xf16>
})");
  // Without it hone brings the operands into the kernel's order.
  EXPECT_EQ(json(arguments("first.mlir", {"--json"})).at("kernels").at(0).at("borders").size(), 3u);
  const auto kernel =
      json(arguments("first.mlir", {"--json", "--flag",
                                    "--iree-preprocessing-pass-pipeline=builtin.module(iree-"
                                    "preprocessing-transpose-convolution-pipeline)"}))
          .at("kernels")
          .at(0);
  EXPECT_TRUE(kernel.at("borders").empty());
  EXPECT_THAT(kernel.at("grid"), ElementsAre(160, 1, 1));
  EXPECT_EQ(kernel.at("arguments")[1].at("points_to_bytes"), 29491200);
}

TEST_F(SpecExternal, AFilterInAnotherLayoutIsTransposedBeforeTheLaunch) {
  write("conv.mlir", convolution("conv_2d_nhwc_hwcf", "3x3x1280x1280"));
  const Ran ran = hone(arguments("conv.mlir"));
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out,
              HasSubstr("  filter: transposed from KH x KW x C x O to O x KH x KW x C, 29.5 MB\n"));
  const std::string text = compiled_to("flow");
  EXPECT_THAT(text, HasSubstr("flow.dispatch @forward_dispatch_0::@forward_dispatch_0_transpose_"));
  EXPECT_THAT(text, HasSubstr("tensor<2x34x34x1280xf16>, tensor<1280x3x3x1280xf16>, "
                              "tensor<2x32x32x1280xf16>) -> "));
}

TEST_F(SpecExternal, SumsOfAnotherTypeAreConvertedBehindTheLaunch) {
  write("conv.mlir", convolution("conv_2d_nhwc_fhwc", "1280x3x3x1280", "f32"));
  const auto kernel = json(arguments("conv.mlir", {"--json"})).at("kernels").at(0);
  ASSERT_EQ(kernel.at("borders").size(), 1u);
  const auto border = kernel.at("borders")[0];
  EXPECT_EQ(border.at("operand"), "output");
  EXPECT_EQ(border.at("from_type"), "f16");
  EXPECT_EQ(border.at("to_type"), "f32");
  EXPECT_EQ(border.at("transposed"), false);
  // 2 x 1024 x 1280 values of two bytes, as the kernel writes them.
  EXPECT_EQ(border.at("bytes"), 5242880);
  EXPECT_THAT(compiled_to("flow"), HasSubstr("arith.extf %in : f16 to f32"));
}

// What stands before a constant is computed by the compiler: a program of f32 with weights as
// PyTorch keeps them, N x K, and a kernel of f16 that reads K x N.
TEST_F(SpecExternal, ConstantsAreTransposedAndConvertedByTheCompiler) {
  write("conv.mlir", R"(
#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (n, k)>
#sum = affine_map<(m, n, k) -> (m, n)>
func.func @forward(%x: tensor<64x128xf32>) -> tensor<64x256xf32> {
  %w = arith.constant dense<0.5> : tensor<256x128xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x256xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x256xf32>) -> tensor<64x256xf32>
  %r = linalg.generic {indexing_maps = [#lhs, #rhs, #sum],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<64x128xf32>, tensor<256x128xf32>) outs(%fill : tensor<64x256xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %product = arith.mulf %a, %b : f32
    %added = arith.addf %sum, %product : f32
    linalg.yield %added : f32
  } -> tensor<64x256xf32>
  return %r : tensor<64x256xf32>
})");
  const auto kernel =
      json({"spec", "external", "conv.mlir", "--external",
            HONE_SOURCE_DIR "/tests/provider/external/product.yaml", "--target", "sm_90", "--json"})
          .at("kernels")
          .at(0);
  ASSERT_EQ(kernel.at("borders").size(), 2u);
  const auto a = kernel.at("borders")[0], b = kernel.at("borders")[1];
  EXPECT_EQ(a.at("constant"), false);
  EXPECT_EQ(a.at("bytes"), 64 * 128 * 2);
  EXPECT_EQ(b.at("constant"), true);
  EXPECT_THAT(b.at("from"), ElementsAre("N", "K"));
  EXPECT_THAT(b.at("to"), ElementsAre("K", "N"));
  const std::string text = compiled_to("flow");
  EXPECT_THAT(text, HasSubstr("@__hoisted_tensor_128x256xf16"));
  EXPECT_THAT(text, Not(HasSubstr("dispatch_1")));  // the conversion of x alone is left
}

TEST_F(SpecExternal, WhatCannotBeConvertedIsCalledThat) {
  write("integers.mlir", R"(
func.func @forward(%x: tensor<64x64xi8>, %y: tensor<64x64xi8>) -> tensor<64x64xi32> {
  %zero = arith.constant 0 : i32
  %empty = tensor.empty() : tensor<64x64xi32>
  %fill = linalg.fill ins(%zero : i32) outs(%empty : tensor<64x64xi32>) -> tensor<64x64xi32>
  %r = linalg.matmul ins(%x, %y : tensor<64x64xi8>, tensor<64x64xi8>) outs(%fill : tensor<64x64xi32>) -> tensor<64x64xi32>
  return %r : tensor<64x64xi32>
})");
  EXPECT_THAT(refusal("integers.mlir"),
              HasSubstr("misa_conv.yaml:6: image is i8, and the kernel's is f16"));
}

TEST_F(SpecExternal, AnObjectForAnotherGpuFitsWhereTheRuntimeTakesTheGpuForThat) {
  write_object(kGfx940);
  EXPECT_THAT(refusal("conv.mlir"), HasSubstr("misa_conv.yaml:9: the code is for gfx940"));
  const std::vector<std::string> override{"--env", "HSA_OVERRIDE_GFX_VERSION=9.4.0"};
  // The compiler's own kernels are for gfx942 still.
  write("exp.mlir", convolution("conv_2d_nhwc_fhwc", "1280x3x3x1280", "f16",
                                "  %r = math.exp %c : tensor<2x32x32x1280xf16>\n"));
  EXPECT_THAT(refusal("exp.mlir", override), HasSubstr("is compiled for gfx942"));
  std::vector<std::string> more = override;
  more.emplace_back("--json");
  EXPECT_EQ(json(arguments("conv.mlir", more)).at("runs_as"), "gfx940");
}

TEST_F(SpecExternal, WhatIsForDispatchesIsNot) {
  const Ran tune =
      hone({"tune", "conv.mlir", "--compile-only", "--target", "sm_80", "--external", manifest_});
  EXPECT_EQ(tune.exit_code, 2);
  EXPECT_THAT(tune.err, HasSubstr("misa_conv.yaml:9: object: this is machine code for gfx942"));
  manifest_ = HONE_SOURCE_DIR "/tests/provider/external/product.yaml";
  write("conv.mlir", matmul_program("64"));
  EXPECT_THAT(refusal("conv.mlir"), HasSubstr("product.yaml is for no operation of the program"));
}

// PTX has its numbers in it, as in the place of a dispatch; what is beside the operation is not
// its concern, and its result can be zeroed.
TEST_F(SpecExternal, PtxIsCalledWithTheOperandsAlone) {
  std::string manifest = read_file(HONE_SOURCE_DIR "/tests/provider/external/product.yaml").value();
  write("product.ptx", read_file(HONE_SOURCE_DIR "/tests/provider/external/product.ptx").value());
  write("product.yaml", manifest + "zeroed: [C]\n");
  const auto kernel = json({"spec", "external", example("matmul_f16.mlir"), "--external",
                            "product.yaml", "--target", "sm_90", "--json"})
                          .at("kernels")
                          .at(0);
  EXPECT_THAT(kernel.at("function").get<std::string>(),
              testing::MatchesRegex("product_[0-9a-f]{8}"));
  EXPECT_THAT(kernel.at("grid"), ElementsAre(20, 2048, 1));  // 1280 columns by 64 threads
  EXPECT_EQ(kernel.at("arguments").size(), 3u);
  EXPECT_EQ(kernel.at("zeroed"), true);
  const std::string object = kernel.at("object");
  EXPECT_THAT(read_file((folder() / "out" / object).string()).value(),
              HasSubstr("mov.b32 \t%r11, 1280;"));
}

TEST_F(SpecExternal, ACubinIsLaunchedAsItIs) {
  const std::filesystem::path ptxas = device::cuda::find_tool("ptxas");
  if (ptxas.empty()) GTEST_SKIP() << "no ptxas";
  Command assemble;
  assemble.arguments = {ptxas.string(), "-arch=sm_80",
                        HONE_SOURCE_DIR "/tests/provider/external/product.ptx", "-o",
                        (folder() / "product.cubin").string()};
  const auto assembled = run_process(assemble);
  ASSERT_TRUE(assembled && assembled->succeeded());
  std::string manifest = read_file(HONE_SOURCE_DIR "/tests/provider/external/product.yaml").value();
  const auto replace = [&](const std::string& from, const std::string& to) {
    manifest.replace(manifest.find(from), from.size(), to);
  };
  replace("product.ptx", "product.cubin");
  // M has 64 bits; the result comes first, which no call has otherwise.
  replace("[A, B, C, N, K, M]", "[C, A, B, N, K, M, 0]");
  write("product.yaml", manifest);
  const std::vector<std::string> arguments{"spec",       "external",     example("matmul_f16.mlir"),
                                           "--external", "product.yaml", "--json",
                                           "--target"};
  std::vector<std::string> sm_80 = arguments, sm_90 = arguments;
  sm_80.emplace_back("sm_80");
  sm_90.emplace_back("sm_90");
  const auto kernel = json(sm_80).at("kernels").at(0);
  EXPECT_EQ(kernel.at("argument_bytes"), 40);
  EXPECT_EQ(kernel.at("arguments")[0].at("name"), "C");
  EXPECT_EQ(kernel.at("arguments")[5].at("value"), 2048);
  EXPECT_THAT(hone(sm_90).err, HasSubstr("product.yaml:7: the code is for sm_80, not for sm_90"));
}

// What is behind the bias stays the compiler's.
TEST_F(SpecExternal, ABiasBehindTheSumsIsAnOperand) {
  write_biased_kernel("f32");
  write("conv.mlir", product_with_bias(kRelu));
  const auto kernel = json(arguments("conv.mlir", {"--json"})).at("kernels").at(0);
  EXPECT_THAT(kernel.at("operation").get<std::string>(), testing::EndsWith(" and behind it addf"));
  ASSERT_EQ(kernel.at("arguments").size(), 4u);
  EXPECT_EQ(kernel.at("arguments")[2].at("name"), "bias");
  EXPECT_EQ(kernel.at("arguments")[2].at("points_to_bytes"), 256 * 4);
  EXPECT_TRUE(kernel.at("borders").empty());
  const std::string text = compiled_to("flow");
  EXPECT_THAT(text, HasSubstr("(tensor<64x128xf16>, tensor<128x256xf16>, tensor<256xf32>) -> "
                              "tensor<64x256xf32>"));
  EXPECT_THAT(text, HasSubstr("arith.maximumf"));
  EXPECT_THAT(text, Not(HasSubstr("arith.addf")));
}

// IREE's matcher takes no value from outside of a body for another one, and constants are moved out
// of bodies; hone's spec makes calls of what reads them.
TEST_F(SpecExternal, AnActivationWithConstantsIsReplacedWhereTheManifestSaysIt) {
  write_biased_kernel("f16", "behind: [addf, divf, erf, addf, mulf, mulf]\n");
  write("conv.mlir", product_with_bias(kGelu, "f16"));
  const auto kernel = json(arguments("conv.mlir", {"--json"})).at("kernels").at(0);
  EXPECT_THAT(kernel.at("operation").get<std::string>(),
              testing::EndsWith(" and behind it addf, divf, erf, addf, mulf, mulf"));
  const std::string text = compiled_to("flow");
  EXPECT_THAT(text, HasSubstr("-> tensor<64x256xf16>"));
  EXPECT_THAT(text, Not(HasSubstr("math.erf")));
  EXPECT_THAT(text, Not(HasSubstr("dispatch_0_")));  // nothing of the compiler's own is left
}

TEST_F(SpecExternal, AnotherActivationIsNotReplaced) {
  write_biased_kernel("f32", "behind: [addf, tanh]\n");
  write("relu.mlir", product_with_bias(kRelu));
  EXPECT_THAT(refusal("relu.mlir"), HasSubstr("biased.yaml:12: behind its sums it computes [addf, "
                                              "maximumf], and the kernel [addf, tanh]"));
  // A kernel of whose manifest nothing is known is not taken for one that computes more than the
  // bias, as it is where both are one operation.
  std::string at_once = product_with_bias(kRelu);
  at_once.replace(at_once.find("linalg.yield %z"), 15,
                  "%r = arith.maximumf %z, %zero : f32\n    linalg.yield %r");
  write("at_once.mlir", at_once);
  write_biased_kernel("f32");
  EXPECT_THAT(refusal("at_once.mlir"),
              HasSubstr("a kernel that does says so in its manifest: behind: [addf, maximumf]"));
  // What hone does not follow is called by its name.
  std::string named = product_with_bias(kRelu);
  const std::string generic =
      named.substr(named.find("  %biased"), named.find("  %place") - named.find("  %biased"));
  named.replace(
      named.find(generic), generic.size(),
      R"(  %wide = linalg.broadcast ins(%bias : tensor<256xf32>) outs(%empty : tensor<64x256xf32>) dimensions = [0]
  %biased = linalg.elementwise <add> ins(%sums, %wide : tensor<64x256xf32>, tensor<64x256xf32>) outs(%empty : tensor<64x256xf32>) -> tensor<64x256xf32>
)");
  write("named.mlir", named);
  write_biased_kernel("f32");
  EXPECT_THAT(refusal("named.mlir"),
              HasSubstr("it reads nothing that is bias; behind that hone does not look: "
                        "linalg.elementwise"));
  // The same operations with another constant are another program: what is matched is what was
  // read, and only there.
  write_biased_kernel("f16", "behind: [addf, divf, erf, addf, mulf, mulf]\n");
  std::string two = product_with_bias(kGelu, "f16");
  std::string other = product_with_bias(kGelu, "f16");
  other.replace(other.find("0.5"), 3, "0.25");
  other.replace(other.find("@forward"), 8, "@other");
  other = other.substr(other.find("func.func"));
  write("conv.mlir", two + other);
  const auto kernels = json(arguments("conv.mlir", {"--json"})).at("kernels");
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].at("launches"), 1);
  EXPECT_THAT(compiled_to("flow"), HasSubstr("2.500000e-01"));
}

TEST_F(SpecExternal, KnobsMayHaveOtherValuesThanTheManifestsDefaults) {
  const std::vector<std::string> arguments{"spec",
                                           "external",
                                           example("matmul_f16.mlir"),
                                           "--external",
                                           HONE_SOURCE_DIR "/tests/provider/external/product.yaml",
                                           "--target",
                                           "sm_90",
                                           "--json",
                                           "--config"};
  std::vector<std::string> wide = arguments, none = arguments, unknown = arguments;
  wide.emplace_back("THREADS=256");
  EXPECT_THAT(json(wide).at("kernels").at(0).at("grid"), ElementsAre(5, 2048, 1));
  none.emplace_back("THREADS=128");
  EXPECT_THAT(hone(none).err, HasSubstr("--config: 'THREADS=128': THREADS of"));
  unknown.emplace_back("THREAD=64");
  const Ran ran = hone(unknown);
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_THAT(ran.err, HasSubstr("no manifest has a knob 'THREAD'"));
}

// What is read back is compared with everything that was asked for.
TEST(ExternalPlacement, ALaunchThatDiffersIsAFailure) {
  session::PlacedKernel placed{"misa.yaml", "misa.hsaco", {}, {}, {}, {64, 32}};
  placed.launch.function = "f";
  placed.launch.operands = {"A", "C"};
  placed.launch.bindings = {0, 2};
  placed.launch.constants = {"M"};
  placed.launch.launch.constants = {7};
  placed.launch.launch.grid = {5, 1, 1};
  placed.operation.count = 1;
  const iree::ExternLaunch right{"f", {5, 1, 1}, {1, 1, 1}, {7}, {64, 32}, {1}};
  EXPECT_TRUE(session::check_launches({placed}, {right}));
  iree::ExternLaunch other = right;
  other.constants = {8};
  EXPECT_THAT(
      session::check_launches({placed}, {other}).error().message,
      HasSubstr("constants 7, bindings of 64, 32 bytes; one has grid 5 x 1 x 1, block 1 x 1 "
                "x 1, constants 8"));
  other = right;
  other.written_bindings = {0, 1};
  EXPECT_FALSE(session::check_launches({placed}, {other}));
  EXPECT_THAT(session::check_launches({placed}, {}).error().message,
              HasSubstr("0 of 1 launches of f are in the compiled program"));
}

}  // namespace
}  // namespace hone::cli
