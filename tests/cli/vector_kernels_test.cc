// hone's own kernels for CPUs, tuned and shipped as a user does. Sizes are odd, so that tiles leave
// remainders. No test asserts a time.
#include <sqlite3.h>

#include "tests/cli/hone_command.h"

namespace hone::cli {
namespace {

// A convolution with bias and relu, a depthwise one of stride 2 whose filter has its channels
// outermost, and a product with a residual: 19, 33 and 31 results lie side by side.
constexpr char kOdd[] = R"mlir(
func.func @convolution(%x: tensor<1x9x11x5xf32>, %w: tensor<3x3x5x19xf32>, %b: tensor<19xf32>) -> tensor<1x7x9x19xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x7x9x19xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x7x9x19xf32>) -> tensor<1x7x9x19xf32>
  %c = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x9x11x5xf32>, tensor<3x3x5x19xf32>)
    outs(%f : tensor<1x7x9x19xf32>) -> tensor<1x7x9x19xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (d)>,
      affine_map<(a, b, c, d) -> (a, b, c, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%c, %b : tensor<1x7x9x19xf32>, tensor<19xf32>) outs(%e : tensor<1x7x9x19xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %s = arith.addf %i, %j : f32
    %m = arith.maximumf %s, %z : f32
    linalg.yield %m : f32
  } -> tensor<1x7x9x19xf32>
  return %r : tensor<1x7x9x19xf32>
}
func.func @"depth wise-1"(%x: tensor<15x15x33xf32>, %w: tensor<33x3x3xf32>) -> tensor<7x7x33xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<7x7x33xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<7x7x33xf32>) -> tensor<7x7x33xf32>
  %c = linalg.generic {indexing_maps = [affine_map<(h, w, c, i, j) -> (h * 2 + i, w * 2 + j, c)>,
      affine_map<(h, w, c, i, j) -> (c, i, j)>, affine_map<(h, w, c, i, j) -> (h, w, c)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
    ins(%x, %w : tensor<15x15x33xf32>, tensor<33x3x3xf32>) outs(%f : tensor<7x7x33xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %p = arith.mulf %i, %j : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<7x7x33xf32>
  return %c : tensor<7x7x33xf32>
}
func.func @product(%a: tensor<13x27xf32>, %b: tensor<27x31xf32>, %r: tensor<13x31xf32>) -> tensor<13x31xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<13x31xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<13x31xf32>) -> tensor<13x31xf32>
  %c = linalg.matmul ins(%a, %b : tensor<13x27xf32>, tensor<27x31xf32>) outs(%f : tensor<13x31xf32>) -> tensor<13x31xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>,
      affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
    ins(%c, %r : tensor<13x31xf32>, tensor<13x31xf32>) outs(%e : tensor<13x31xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %t = arith.addf %i, %j : f32
    linalg.yield %t : f32
  } -> tensor<13x31xf32>
  return %s : tensor<13x31xf32>
}
)mlir";

class VectorKernels : public HoneCommand {
 protected:
  // The number in the first column of the store's only row.
  std::int64_t in_store(const char* query) const {
    sqlite3* db = nullptr;
    EXPECT_EQ(sqlite3_open((folder() / "hone.db").c_str(), &db), SQLITE_OK);
    sqlite3_stmt* statement = nullptr;
    EXPECT_EQ(sqlite3_prepare_v2(db, query, -1, &statement, nullptr), SQLITE_OK)
        << sqlite3_errmsg(db);
    EXPECT_EQ(sqlite3_step(statement), SQLITE_ROW);
    const std::int64_t number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return number;
  }
};

TEST_F(VectorKernels, AreRightForOddSizes) {
  const std::string program = write("odd.mlir", kOdd);
  const Ran ran = hone({"tune", program, "--provider", "iree,vector", "--candidates", "24",
                        "--strategy", "random", "--threads", "1", "--no-flags", "--no-program",
                        "--no-baselines", "--quiet", "--budget", "25s"});
  ASSERT_EQ(ran.exit_code, 0) << ran.out << ran.err;
  EXPECT_EQ(in_store("SELECT count(DISTINCT dispatch_id) FROM candidate WHERE provider = 'vector'"),
            3);
  EXPECT_EQ(in_store("SELECT count(*) FROM failure, candidate ON candidate.id = candidate_id "
                     "WHERE provider = 'vector'"),
            0);
  EXPECT_EQ(in_store("SELECT count(*) FROM verification WHERE NOT correct"), 0);
  EXPECT_GE(in_store("SELECT count(*) FROM verification, artifact USING (identity), candidate "
                     "ON candidate.id = candidate_id WHERE provider = 'vector'"),
            12);
  const std::int64_t shown = in_store("SELECT min(id) FROM candidate WHERE provider = 'vector'");
  ASSERT_EQ(hone({"show", std::to_string(shown), "--out", "shown"}).exit_code, 0);
  EXPECT_NE(read_file(folder() / "shown/kernel.mlir").value_or("").find("vector.fma"),
            std::string::npos);
  EXPECT_NE(
      read_file(folder() / "shown/reproduce.sh").value_or("").find("iree-compile kernel.mlir"),
      std::string::npos);
}

// A compiler that makes them anew is checked on them too.
TEST_F(VectorKernels, AreCheckedWithTheCompilerThatMakesThem) {
  const std::string program = write("odd.mlir", kOdd);
  const Ran ran = hone({"tune", program, "--dispatch", "*wise-1*", "--threads", "1", "--no-flags",
                        "--no-program", "--no-baselines", "--quiet", "--budget", "5s"});
  ASSERT_EQ(ran.exit_code, 0) << ran.out << ran.err;
  ASSERT_GE(in_store("SELECT count(*) FROM selection, candidate ON candidate.id = winner_id "
                     "WHERE provider = 'vector'"),
            1);
  const nlohmann::json checked = json({"check", "hone.db", "--threads", "1", "--json"});
  ASSERT_EQ(checked.at("codes").size(), 2u) << checked;
  for (const nlohmann::json& code : checked.at("codes"))
    EXPECT_EQ(code.at("outcome"), "same code") << code;
}

TEST_F(VectorKernels, ShipAsFilesThatTheCompilerTakesAlone) {
  const std::string program = write("odd.mlir", kOdd);
  const Ran ran =
      hone({"tune", program, "--dispatch", "*wise-1*", "--function", "depth wise-1", "--threads",
            "1", "--no-flags", "--no-baselines", "--quiet", "--budget", "6s", "--out", "out"});
  ASSERT_EQ(ran.exit_code, 0) << ran.out << ran.err;
  const auto kernel = read_file(folder() / "out/kernels/depth wise-1_dispatch_0.mlir");
  ASSERT_TRUE(kernel) << ran.out << ran.err;
  EXPECT_NE(kernel->find("vector.fma"), std::string::npos);
  Command check;
  const std::string tools = HONE_SOURCE_DIR "/.venv/bin";
  check.arguments = {"/bin/sh", "-c", "PATH=" + tools + ":$PATH ROUNDS=1 sh out/run.sh"};
  check.folder = folder();
  const auto checked = run_process(check, {.seconds = 120});
  ASSERT_TRUE(checked);
  EXPECT_TRUE(checked->succeeded())
      << checked->standard_output.text() << checked->standard_error.text();
}

TEST_F(VectorKernels, AreLeftOutWhereIreesAloneAreAskedFor) {
  const std::string program = write("odd.mlir", kOdd);
  const Ran ran = hone({"tune", program, "--dispatch", "*product*", "--provider", "iree",
                        "--candidates", "2", "--threads", "1", "--no-flags", "--no-program",
                        "--no-baselines", "--quiet", "--budget", "5s"});
  ASSERT_EQ(ran.exit_code, 0) << ran.out << ran.err;
  EXPECT_EQ(in_store("SELECT count(*) FROM candidate WHERE provider = 'vector'"), 0);
  const Ran compiled = hone({"tune", program, "--provider", "iree,vector", "--compile-only"});
  EXPECT_EQ(compiled.exit_code, 2);
  EXPECT_NE(compiled.err.find("leave out --provider iree,vector"), std::string::npos)
      << compiled.err;
}

}  // namespace
}  // namespace hone::cli
