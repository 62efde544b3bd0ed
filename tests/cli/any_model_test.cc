// Models as users have them: from ONNX, with weights in files, printed without them; called with
// what a user gives.
#include <gmock/gmock.h>

#include "tests/cli/hone_command.h"

namespace hone::cli {
namespace {

using testing::HasSubstr;

std::string model(const std::string& name) {
  return std::string(HONE_SOURCE_DIR) + "/tests/cli/data/" + name;
}

class AnyModel : public HoneCommand {
 protected:
  void SetUp() override {
    HoneCommand::SetUp();
    write("weights.mlir", R"(
util.global private @w = #flow.parameter.named<"model"::"w0"> : tensor<8x16xf32>
func.func @net(%x: tensor<4x8xf32>) -> tensor<4x16xf32> {
  %w = util.global.load @w : tensor<8x16xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4x16xf32>
  %filled = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x16xf32>) -> tensor<4x16xf32>
  %y = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x16xf32>)
                     outs(%filled : tensor<4x16xf32>) -> tensor<4x16xf32>
  return %y : tensor<4x16xf32>
}
)");
    write("elided.mlir", R"(
func.func @net(%x: tensor<4x8xf32>) -> tensor<4x16xf32> {
  %w = arith.constant dense_resource<__elided__> : tensor<8x16xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4x16xf32>
  %filled = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x16xf32>) -> tensor<4x16xf32>
  %y = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x16xf32>)
                     outs(%filled : tensor<4x16xf32>) -> tensor<4x16xf32>
  return %y : tensor<4x16xf32>
}
)");
  }

  void expect_mistake(const std::vector<std::string>& arguments, const std::string& message) const {
    const Ran ran = hone(arguments);
    EXPECT_EQ(ran.exit_code, 2) << ran.out << ran.err;
    EXPECT_THAT(ran.err, HasSubstr(message));
  }
};

// matmul_relu.onnx: y (16,4) = relu(x (16,8) w (8,4)), w[i,j] = (4 i + j) / 32, opset 17. With x of
// ones y[i,j] is the sum of a column: (4 (0 + ... + 7) + 8 j) / 32 = 3.5 + j / 4.
TEST_F(AnyModel, FromOnnxIsVerifiedAsAWhole) {
  const Ran ran = hone({"verify", model("matmul_relu.onnx"), "--input", "16x8xf32=1", "--output",
                        "y.npy", "--save-inputs", "given"});
  EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("net of "));
  EXPECT_THAT(ran.out, HasSubstr("16x4xf32, right"));
  const std::string y = read_file(folder() / "y.npy").value();
  const auto* const values = reinterpret_cast<const float*>(y.data() + y.size() - 256);
  for (std::size_t i = 0; i < 64; ++i)
    EXPECT_EQ(values[i], 3.5f + 0.25f * static_cast<float>(i % 4));

  // What was kept gives the same again.
  const Ran again = hone({"verify", model("matmul_relu.onnx"), "--input", "@given/argument0.npy",
                          "--expected", "y.npy"});
  EXPECT_EQ(again.exit_code, 0) << again.out << again.err;
  EXPECT_EQ(hone({"compare", "y.npy", "y.npy"}).exit_code, 0);
}

TEST_F(AnyModel, FromOnnxIsTunedAndTheProgramKept) {
  const Ran ran = hone({"tune", model("matmul_relu.onnx"), "--candidates", "1", "--budget", "1s",
                        "--no-baselines", "--no-program", "--quiet"});
  EXPECT_THAT(ran.out, HasSubstr("written:  out/matmul_relu.mlir (imported), ")) << ran.err;
  EXPECT_THAT(read_file(folder() / "out" / "matmul_relu.mlir").value(),
              testing::AllOf(testing::StartsWith("// hone: imported from matmul_relu.onnx ("),
                             HasSubstr("onnx.MatMul")));
}

TEST_F(AnyModel, ThatDoesNotImportIsSaidWithTheImportersWords) {
  expect_mistake({"dispatches", model("unknown_operation.onnx")},
                 "No Op registered for Foo with domain_version of 17");
  write("text.onnx", "not a model");
  expect_mistake({"dispatches", "text.onnx"}, "iree-import-onnx does not take 'text.onnx'");
  expect_mistake({"tune", "none.onnx"}, "cannot read 'none.onnx': No such file or directory");
}

TEST_F(AnyModel, WithoutItsParametersNamesThem) {
  const std::string message =
      "'weights.mlir' takes 1 parameters from files, which are not given, of scope 'model': w0 "
      "(8x16xf32); give --parameters model=FILE, or --random-parameters";
  expect_mistake({"verify", "weights.mlir"}, message);
  expect_mistake({"tune", "weights.mlir"}, message);
  expect_mistake({"compare", "none", "none", "--program", "weights.mlir"}, message);
  expect_mistake({"verify", "weights.mlir", "--parameters", "model=w.npz"},
                 "IREE's runtime takes .irpa, .safetensors and .gguf");
  expect_mistake({"verify", "weights.mlir", "--parameters", "model=none.irpa"},
                 "cannot read 'none.irpa': No such file or directory");
  const Ran random = hone({"verify", "weights.mlir", "--random-parameters"});
  EXPECT_EQ(random.exit_code, 0) << random.out << random.err;
  EXPECT_THAT(random.out, HasSubstr("4x16xf32, right"));
}

TEST_F(AnyModel, PrintedWithoutItsConstantsGetsRandomOnes) {
  const Ran ran = hone({"verify", "elided.mlir", "--input", "=0", "--output", "y.npy"});
  EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("'elided.mlir' was printed without 1 of its constants"));
}

TEST_F(AnyModel, MistakesInItsCallAreNamed) {
  const std::string onnx = model("matmul_relu.onnx");
  expect_mistake({"tune", onnx, "--input", "3x8xf32"},
                 "--input '3x8xf32' does not fit, number 0 of the inputs of 'net': 16x8xf32 is "
                 "wanted");
  expect_mistake({"tune", onnx, "--function", "nett"},
                 "has no function 'nett' (did you mean 'net'?); there are: net");
  write("flags.txt", "# none\nnot a flag\n");
  expect_mistake({"verify", onnx, "--runtime-flags-file", "flags.txt"},
                 "--runtime-flags-file 'flags.txt': 'not a flag' is no flag");
}

TEST_F(AnyModel, ArraysThatDifferAreDescribed) {
  const std::vector<std::string> call{"verify", "elided.mlir", "--input"};
  for (const auto& [input, file] : {std::pair("=0", "a.npy"), {"=1", "b.npy"}}) {
    std::vector<std::string> arguments = call;
    arguments.insert(arguments.end(), {input, "--output", file});
    ASSERT_EQ(hone(arguments).exit_code, 0);
  }
  const Ran ran = hone({"compare", "a.npy", "b.npy"});
  EXPECT_EQ(ran.exit_code, 1) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("different        64 of 64 elements (100 %)"));
  EXPECT_THAT(ran.out, HasSubstr("wrong: 64 of 64 elements (100 %), first at [0, 0]: expected 0"));
  EXPECT_EQ(hone({"compare", "a.npy", "b.npy", "--atol", "100"}).exit_code, 0);
}

}  // namespace
}  // namespace hone::cli
