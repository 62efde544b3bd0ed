// hone verify and hone dispatches --extract-root as a user meets them: NumPy files in and out.
#include <gmock/gmock.h>

#include <cstring>

#include "tests/cli/hone_command.h"

namespace hone::cli {
namespace {

using testing::HasSubstr;

// An .npy file of f32 values, as numpy.save writes it.
std::string npy(const std::string& shape, const std::vector<float>& values) {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + ", }";
  header.resize(117, ' ');
  header += '\n';
  std::string file("\x93NUMPY\x01\x00\x76\x00", 10);
  file += header;
  file.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  return file;
}

// a (4,8) of ones and b (8,16) whose column j holds j: c (4,16) with c[i,j] = 8 j.
class Verify : public HoneCommand {
 protected:
  void SetUp() override {
    HoneCommand::SetUp();
    write("mm.mlir", R"(
func.func @mm(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>) -> tensor<4x16xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4x16xf32>
  %filled = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x16xf32>) -> tensor<4x16xf32>
  %c = linalg.matmul ins(%a, %b : tensor<4x8xf32>, tensor<8x16xf32>)
                     outs(%filled : tensor<4x16xf32>) -> tensor<4x16xf32>
  return %c : tensor<4x16xf32>
}
)");
    std::vector<float> b(128), c(64);
    for (std::size_t i = 0; i < 128; ++i) b[i] = static_cast<float>(i % 16);
    for (std::size_t i = 0; i < 64; ++i) c[i] = static_cast<float>(8 * (i % 16));
    write("a.npy", npy("(4, 8)", std::vector<float>(32, 1)));
    write("b.npy", npy("(8, 16)", b));
    write("c.npy", npy("(4, 16)", c));
    c[37] += 0.25f;  // [2, 5]
    write("wrong.npy", npy("(4, 16)", c));
  }

  Ran verify(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "verify");
    return hone(arguments);
  }
  Ran verify_mm(std::vector<std::string> more) const {
    more.insert(more.begin(), {"mm.mlir", "--input=@a.npy", "--input=@b.npy"});
    return verify(more);
  }
};

TEST_F(Verify, TheRoundTripIsOneCommand) {
  const Ran ran = verify_mm({"--expected=@c.npy", "--output=@got.npy"});
  EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("result 0"));
  EXPECT_THAT(ran.out, HasSubstr("4x16xf32, right, no difference"));
  EXPECT_EQ(read_file(folder() / "got.npy").value().substr(128),
            read_file(folder() / "c.npy").value().substr(128));
}

TEST_F(Verify, AWrongElementIsPlaced) {
  const Ran ran = verify_mm({"--expected=@wrong.npy"});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.out, HasSubstr("wrong: 1 of 64 elements (1.56 %), first at [2, 5]: expected "
                                 "40.25, got 40; largest error 0.25, relative 0.00621"));
  EXPECT_EQ(verify_mm({"--expected=@wrong.npy", "--atol=0.5"}).exit_code, 0);
  EXPECT_EQ(verify_mm({"--expected=@wrong.npy", "--rtol", "1e-2"}).exit_code, 0);
}

// A program whose result is `body` (which gives %y of %x) of the sums of a product.
std::string behind_a_product(const std::string& body) {
  return R"(
#map = affine_map<(i, j) -> (i, j)>
func.func @f(%a: tensor<64x512xf32>, %b: tensor<512x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x64xf32>
  %filled = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  %c = linalg.matmul ins(%a, %b : tensor<64x512xf32>, tensor<512x64xf32>)
                     outs(%filled : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%c : tensor<64x64xf32>) outs(%empty : tensor<64x64xf32>) {
  ^bb0(%x: f32, %o: f32):
)" + body +
         R"(
    linalg.yield %y : f32
  } -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
)";
}

// Where a sum nearly cancels its reciprocal is off by any amount in a right compile.
TEST_F(Verify, AReciprocalIsHeldToItsCondition) {
  write("reciprocal.mlir", behind_a_product("    %one = arith.constant 1.0 : f32\n"
                                            "    %y = arith.divf %one, %x : f32\n"));
  const Ran ran = verify({"reciprocal.mlir"});
  EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
}

TEST_F(Verify, OutputsThatAreConstantVerifyNothing) {
  write("constant.mlir", behind_a_product("    %most = arith.constant 1.0e+30 : f32\n"
                                          "    %y = arith.maximumf %x, %most : f32\n"));
  const Ran ran = verify({"constant.mlir"});
  EXPECT_EQ(ran.exit_code, 1) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("NOT VERIFIED: the outputs cannot tell right from wrong (result "
                                 "0: each of its elements is 1.0"));
}

TEST_F(Verify, OneDispatchIsLaunchedByHone) {
  const nlohmann::json document =
      json({"verify", "mm.mlir", "--dispatch", "0", "--input=@a.npy", "--input=@b.npy",
            "--expected=@wrong.npy", "--output=@got.npy", "--json"});
  EXPECT_EQ(document["right"], false);
  EXPECT_EQ(document["reference"], "the given outputs");
  EXPECT_EQ(document["outputs"][0]["name"], "binding 2");
  EXPECT_EQ(document["outputs"][0]["type"], "4x16xf32");
  EXPECT_EQ(document["outputs"][0]["first_bad"], nlohmann::json({2, 5}));
  EXPECT_EQ(document["outputs"][0]["bad"], 1);
  EXPECT_EQ(document["outputs"][0]["largest_error"], 0.25);
  EXPECT_THAT(document["outputs"][0]["tolerance"].get<std::string>(), HasSubstr("exact"));
  EXPECT_EQ(read_file(folder() / "got.npy").value().substr(128),
            read_file(folder() / "c.npy").value().substr(128));
}

// The sum begins with a slice of an input, which hone's own product knows nothing of.
TEST_F(Verify, AProductThatAddsToAnInputIsRight) {
  const auto document = json({"verify", write("adds.mlir", R"(
func.func @adds(%x: tensor<5x16x64xf32>, %s: tensor<16x64xf32>, %w: tensor<64x64xf32>) -> tensor<16x64xf32> {
  %step = tensor.extract_slice %x[2, 0, 0] [1, 16, 64] [1, 1, 1] : tensor<5x16x64xf32> to tensor<16x64xf32>
  %r = linalg.matmul ins(%s, %w : tensor<16x64xf32>, tensor<64x64xf32>) outs(%step : tensor<16x64xf32>) -> tensor<16x64xf32>
  return %r : tensor<16x64xf32>
})"),
                              "--dispatch", "0", "--json"});
  EXPECT_EQ(document["right"], true) << document.dump();
}

TEST_F(Verify, AConfigurationIsTried) {
  const nlohmann::json space = json({"space", "mm.mlir", "--json"});
  std::string configuration;
  for (const auto& [knob, value] : space["spaces"][0]["samples"][0].items())
    configuration += (configuration.empty() ? "" : ",") + knob + "=" + value.dump();
  const Ran ran = verify({"mm.mlir", "--config", configuration});
  EXPECT_EQ(ran.exit_code, 0) << configuration << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("the product computed by hone"));
  const Ran unknown = verify({"mm.mlir", "--config", "dist_q=1"});
  EXPECT_EQ(unknown.exit_code, 2) << unknown.out;
  EXPECT_THAT(unknown.err, HasSubstr("dist_q"));
}

TEST_F(Verify, WithoutFilesBothSidesAreGeneratedAndCompiledHere) {
  const Ran program = verify({example("feed_forward.mlir")});
  EXPECT_EQ(program.exit_code, 0) << program.out << program.err;
  EXPECT_THAT(program.out, HasSubstr("--iree-llvmcpu-target-cpu=x86-64"));
  const Ran fused = verify({example("feed_forward.mlir"), "--dispatch", "0"});
  EXPECT_EQ(fused.exit_code, 0) << fused.out << fused.err;
  EXPECT_THAT(fused.out, HasSubstr("sums of 768 terms"));
}

TEST_F(Verify, AReductionCanBeVerified) {
  const Ran ran = verify({example("matmul_row_sum.mlir"), "--dispatch", "1"});
  EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
}

struct Mistake {
  std::vector<std::string> arguments;
  std::string message;
};

TEST_F(Verify, MistakesAreNamed) {
  write("text.npy", "1 2 3");
  write("row.npy", npy("(32,)", std::vector<float>(32, 1)));
  for (const Mistake& mistake : {
           Mistake{{"--input=@a.npy", "--input=@b.npy", "--input=@b.npy"},
                   "the inputs of 'mm' are 2 (4x8xf32, 8x16xf32), but 3 are given"},
           Mistake{{"--input=@b.npy", "--input=@b.npy"},
                   "--input 'b.npy' does not fit, number 0 of the inputs of 'mm': it holds "
                   "8x16xf32, but 4x8xf32 is wanted: another shape"},
           Mistake{{"--input=@row.npy", "--input=@b.npy"},
                   "--input 'row.npy' does not fit, number 0 of the inputs of 'mm': it holds "
                   "32xf32, but 4x8xf32 is wanted: another shape"},
           Mistake{{"--input=@none.npy", "--input=@b.npy"},
                   "cannot read 'none.npy': No such file or directory"},
           Mistake{{"--input=@text.npy", "--input=@b.npy"},
                   "--input 'text.npy': not a .npy file: it does not begin with NumPy's magic "
                   "bytes"},
           Mistake{{"--expected=@c.npy"}, "--expected needs the inputs of these outputs: --input"},
           Mistake{{"--output=@x.npy", "--output=@y.npy"},
                   "--output is given 2 times, but 'mm' has 1 outputs"},
           Mistake{{"--function", "nn"},
                   "'mm.mlir' has no function 'nn' (did you mean 'mm'?); there are: mm"},
           Mistake{{"--dispatch", "7"},
                   "there is no dispatch 7 in 'mm.mlir', which has 1, numbered from 0"},
           Mistake{{"--atol=-1"}, "--atol -1 is negative"},
       }) {
    std::vector<std::string> arguments{"mm.mlir"};
    arguments.insert(arguments.end(), mistake.arguments.begin(), mistake.arguments.end());
    const Ran ran = verify(arguments);
    EXPECT_EQ(ran.exit_code, 2) << mistake.message;
    EXPECT_EQ(ran.err, "hone: " + mistake.message + "\n");
  }
  EXPECT_FALSE(std::filesystem::exists(folder() / "x.npy"));
}

TEST_F(Verify, TheRootOfADispatchIsAProgramThatVerifiesAndTunes) {
  const Ran extracted =
      hone({"dispatches", example("feed_forward.mlir"), "--extract-root", "1", "-o", "root.mlir"});
  EXPECT_EQ(extracted.exit_code, 0) << extracted.err;
  EXPECT_EQ(extracted.out, "root.mlir: matmul 128x768x3072 f32,f32->f32\n");
  const Ran right = verify({"root.mlir", "--dispatch", "0"});
  EXPECT_EQ(right.exit_code, 0) << right.out << right.err;
  EXPECT_THAT(right.out, HasSubstr("right, no difference"));
  const nlohmann::json tuned = json({"tune", "root.mlir", "--candidates", "1", "--budget", "5s",
                                     "--no-program", "--no-baselines", "--json"});
  EXPECT_EQ(tuned["dispatches"].size(), 1u);
}

TEST_F(Verify, AnUnknownRootIsNamed) {
  const Ran ran = hone({"dispatches", "mm.mlir", "--extract-root", "matmul_7", "-o", "x.mlir"});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_THAT(ran.err, HasSubstr("no dispatch of 'mm.mlir' is called 'matmul_7'"));
  EXPECT_FALSE(std::filesystem::exists(folder() / "x.mlir"));
  EXPECT_EQ(hone({"dispatches", "mm.mlir", "-o", "x.mlir"}).exit_code, 2);
}

}  // namespace
}  // namespace hone::cli
