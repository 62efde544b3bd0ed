// hone flags, and the flags that hone takes for the compiler.
#include <gmock/gmock.h>

#include "tests/cli/hone_command.h"

namespace hone::cli {
namespace {

using testing::Contains;
using testing::HasSubstr;

class Flags : public HoneCommand {};

std::string product(std::string_view size) {
  const std::string type = fmt::format("tensor<{0}x{0}xf32>", size);
  return fmt::format(
      "func.func @product(%a: {0}, %b: {0}) -> {0} {{\n%z = arith.constant 0.0 : f32\n"
      "%e = tensor.empty() : {0}\n%f = linalg.fill ins(%z : f32) outs(%e : {0}) -> {0}\n"
      "%c = linalg.matmul ins(%a, %b : {0}, {0}) outs(%f : {0}) -> {0}\nreturn %c : {0}\n}}\n",
      type);
}

TEST_F(Flags, AreTriedAndListedWithWhatCameOfThem) {
  const std::string program = write("product.mlir", product("256"));
  const Ran ran = hone({"flags", program, "--budget", "1s", "--threads", "1", "--json"});
  ASSERT_LE(ran.exit_code, 1) << ran.err;
  const nlohmann::json document = nlohmann::json::parse(ran.out);
  std::vector<std::string> tried, not_tried;
  for (const auto& row : document["flags"]) tried.push_back(row["variant"]);
  for (const auto& row : document["not_tried"])
    not_tried.push_back(row["name"].get<std::string>() + ": " + row["reason"].get<std::string>());
  EXPECT_THAT(tried, Contains("default"));
  EXPECT_THAT(tried, Contains("data tiling"));
  // Its operands are arguments: there are no weights to lay out.
  EXPECT_THAT(tried, Contains("weights in blocks"));
  for (const auto& row : document["flags"])
    if (row["variant"] == "weights in blocks") {
      EXPECT_EQ(row["outcome"], "unchanged (same code as 'default')");
    }
  EXPECT_THAT(not_tried, Contains("im2col: the program has no convolution"));
  // What is recommended is what the file says.
  const auto file = read_file(folder() / "out" / "compile_flags.txt");
  ASSERT_TRUE(file);
  for (const auto& flag : document["compile_flags"])
    EXPECT_THAT(*file, HasSubstr(flag.get<std::string>()));
}

TEST_F(Flags, AreOfAWholeProgramThatCanBeCalled) {
  const std::string program = write("none.mlir", "module {\n}\n");
  const Ran ran = hone({"flags", program});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_THAT(ran.err, HasSubstr("the program has no function that hone can call"));
}

class Profile : public HoneCommand {};

// 2 x 256^3 flops, and the bytes of three views.
TEST_F(Profile, SaysWhereTheTimeGoes) {
  const auto document = json({"dispatches", write("product.mlir", product("256")), "--profile",
                              "--threads", "1", "--json"});
  ASSERT_EQ(document["dispatches"].size(), 1u);
  const auto& row = document["dispatches"][0];
  const double seconds = row["seconds_in_place"];
  EXPECT_GT(seconds, 0);
  EXPECT_GT(row["seconds"].get<double>(), 0);
  EXPECT_EQ(row["launches_per_call"], 1);
  EXPECT_EQ(row["seconds_per_call"], seconds);
  EXPECT_EQ(row["share"], 1);
  EXPECT_EQ(row["bytes"], 3 * 256 * 256 * 4);
  EXPECT_DOUBLE_EQ(row["flops_per_second"].get<double>() * seconds, 2.0 * 256 * 256 * 256);
  EXPECT_EQ(document["sum_seconds"], row["seconds"]);
  EXPECT_EQ(document["sum_in_place"], seconds);
  EXPECT_GT(document["seconds"].get<double>(), 0);
}

// One arm of a branch is never launched, and a loop launches its product at each of 7 turns.
TEST_F(Profile, CountsLaunchesInTheCall) {
  const std::string program = write("branch.mlir", R"(
func.func @main(%a: tensor<64x64xf32>, %w: tensor<64x32xf32>) -> (tensor<64x64xf32>, tensor<64x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %far = arith.constant 1.0e9 : f32
  %z = arith.constant 0.0 : f32
  %loop = scf.for %i = %c0 to %c7 step %c1 iter_args(%s = %a) -> tensor<64x64xf32> {
    %e = tensor.empty() : tensor<64x64xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %p = linalg.matmul ins(%s, %a : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
    scf.yield %p : tensor<64x64xf32>
  }
  %first = tensor.extract %a[%c0, %c0] : tensor<64x64xf32>
  %is_far = arith.cmpf ogt, %first, %far : f32
  %arm = scf.if %is_far -> tensor<64x32xf32> {
    %e = tensor.empty() : tensor<64x32xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x32xf32>) -> tensor<64x32xf32>
    %p = linalg.matmul ins(%a, %w : tensor<64x64xf32>, tensor<64x32xf32>) outs(%f : tensor<64x32xf32>) -> tensor<64x32xf32>
    scf.yield %p : tensor<64x32xf32>
  } else {
    scf.yield %w : tensor<64x32xf32>
  }
  return %loop, %arm : tensor<64x64xf32>, tensor<64x32xf32>
})");
  const auto document = json({"dispatches", program, "--profile", "--quick", "--json"});
  std::map<std::string, int> launches;
  for (const auto& row : document["dispatches"])
    launches[row["name"].get<std::string>()] += row["launches_per_call"].get<int>();
  EXPECT_THAT(launches, Contains(testing::Pair(HasSubstr("matmul_64x64x64"), 7)));
  EXPECT_THAT(launches, Contains(testing::Pair(HasSubstr("matmul_64x32x64"), 0)));
}

TEST_F(Profile, IsQuickByRunsOfTheWholeOnly) {
  const std::string program = write("product.mlir", product("256"));
  const auto document = json({"dispatches", program, "--profile", "--quick", "--json"});
  const auto& row = document["dispatches"][0];
  EXPECT_FALSE(row.contains("seconds"));
  EXPECT_GT(row["seconds_in_place"].get<double>(), 0);
  EXPECT_EQ(row["share_of_roofline"], nullptr);
  EXPECT_EQ(document["sum_seconds"], nullptr);
  const Ran none =
      hone({"dispatches", write("none.mlir", "module {\n}\n"), "--profile", "--quick"});
  EXPECT_NE(none.exit_code, 0);
  const Ran alone = hone({"dispatches", program, "--quick"});
  EXPECT_EQ(alone.exit_code, 2);
  EXPECT_THAT(alone.err, HasSubstr("--profile"));
  const Ran gpu = hone({"dispatches", program, "--profile", "--quick", "--target", "sm_80"});
  EXPECT_EQ(gpu.exit_code, 2);
  EXPECT_THAT(gpu.err, HasSubstr("--quick works on CPUs only"));
}

TEST_F(Flags, DoNotTakeThePlaceOfATuning) {
  ASSERT_TRUE(std::filesystem::create_directory(folder() / "out"));
  ASSERT_TRUE(write_file_atomically(folder() / "out" / "tuning_spec.mlir", "a spec"));
  const Ran ran = hone({"flags", write("product.mlir", product("32"))});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_THAT(ran.err, HasSubstr("name another folder with --out"));
}

// LLVM keeps one value of some of the compiler's options in a process, and a session of IREE's
// compiler does not know them; iree-compile takes them.
TEST_F(Flags, OfTheCompilersProcessAreTaken) {
  const std::string program = write("product.mlir", product("32"));
  const std::string flag = "--iree-dispatch-creation-enable-fuse-horizontal-contractions";
  EXPECT_EQ(hone({"dispatches", program, "--flag=" + flag}).exit_code, 0);
  const Ran unknown = hone({"dispatches", program, "--flag=" + flag + "s"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("option not found: " + flag.substr(2) + "s"));
}

}  // namespace
}  // namespace hone::cli
