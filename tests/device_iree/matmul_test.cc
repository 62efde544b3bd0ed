// A matmul that the real compiler made, loaded, launched and checked on hone's own threads.
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <regex>

#include "device/cpu/executable.h"
#include "provider/iree/compiler/library.h"
#include "tests/measure/runner_problem.h"

namespace hone::measure {
namespace {

using testing::HasSubstr;

constexpr char kMatmul[] = R"(
func.func @mm(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x64xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  %c = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>)
                     outs(%fill : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %c : tensor<64x64xf32>
}
)";

// The constants in "workgroups([%c8, %c1, %c1])" of the compiler's phase hal.
Result<std::array<std::uint32_t, 3>> grid_in(const std::string& hal) {
  std::smatch match;
  const std::regex workgroups(R"(workgroups\(\[%c(\d+)\w*, %c(\d+)\w*, %c(\d+)\w*\]\))");
  if (!std::regex_search(hal, match, workgroups)) return failure("no grid in:\n{}", hal);
  std::array<std::uint32_t, 3> grid{};
  for (std::size_t i = 0; i < 3; ++i)
    grid[i] = static_cast<std::uint32_t>(std::stoul(match[i + 1]));
  return grid;
}

// Compiled once per test run by the native iree-compile. Without IREE the tests fail: a run that
// skipped them would say nothing.
Result<provider::Artifact> compile() {
  const std::filesystem::path in_tree = std::filesystem::path(HONE_SOURCE_DIR) / ".venv";
  const bool use_tree = !std::getenv("HONE_IREE") && std::filesystem::exists(in_tree);
  HONE_ASSIGN(const iree::Installation iree,
              iree::find_installation(use_tree ? in_tree.string() : ""));
  HONE_ASSIGN(const TemporaryFolder folder, TemporaryFolder::create("hone-device-iree-"));
  const std::string in = folder.path() / "mm.mlir", binaries = folder.path() / "binaries",
                    hal = folder.path() / "hal.mlir";
  HONE_TRY(write_file_atomically(in, kMatmul));
  const std::string compile = fmt::format(
      "'{}' {} --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu "
      "--iree-llvmcpu-target-cpu=host ",
      iree.iree_compile.string(), in);
  if (std::system((compile + "--iree-hal-dump-executable-binaries-to=" + binaries + " -o /dev/null")
                      .c_str()) != 0 ||
      std::system((compile + "--compile-to=hal -o " + hal).c_str()) != 0)
    return failure("iree-compile failed");
  HONE_ASSIGN(const std::string phase, read_file(hal));
  provider::Artifact artifact;
  artifact.format = "embedded-elf-x86_64";
  HONE_ASSIGN(artifact.launch.grid, grid_in(phase));
  for (const auto& entry : std::filesystem::directory_iterator(binaries)) {
    HONE_ASSIGN(artifact.code, read_file(entry.path()));
  }
  return artifact;
}

class IreeMatmulTest : public testing::TestWithParam<std::size_t> {
 protected:
  static void SetUpTestSuite() { artifact_ = new Result<provider::Artifact>(compile()); }
  static void TearDownTestSuite() {
    delete artifact_;
    artifact_ = nullptr;
  }

  void SetUp() override {
    ASSERT_TRUE(*artifact_) << artifact_->error().message;
    if (device::cpu::available_cores().size() < GetParam())
      GTEST_SKIP() << "this machine has too few cores";
    const auto ready =
        runner_.set_problem(test::problem_request(test::matmul(64, 64, 64), GetParam()));
    ASSERT_TRUE(ready) << ready.error().message;
    EXPECT_EQ(ready->reference, "exact");
  }

  static Result<provider::Artifact>* artifact_;
  Runner runner_ = test::cpu_runner();
};

Result<provider::Artifact>* IreeMatmulTest::artifact_ = nullptr;

TEST_P(IreeMatmulTest, StatesItsExport) {
  const auto executable = device::cpu::Executable::load((*artifact_)->code);
  ASSERT_TRUE(executable) << executable.error().message;
  ASSERT_EQ(executable->exports().size(), 1u);
  const device::cpu::Export& entry = executable->exports()[0];
  EXPECT_THAT(entry.name, HasSubstr("mm_dispatch_0_matmul_64x64x64_f32"));
  EXPECT_EQ(entry.bindings, 3);
  EXPECT_EQ(entry.constants, 0);
}

TEST_P(IreeMatmulTest, IsExactlyRight) {
  const auto handle = runner_.load(**artifact_);
  ASSERT_TRUE(handle) << handle.error().message;
  for (int i = 0; i < 20; ++i) {
    const auto verification = runner_.verify(*handle);
    ASSERT_TRUE(verification) << verification.error().message;
    EXPECT_TRUE(verification->right) << verification->message;
    EXPECT_EQ(verification->largest_error, 0);
  }
}

TEST_P(IreeMatmulTest, IsWrongOnASmallerGrid) {
  provider::Artifact artifact = **artifact_;
  ASSERT_GT(artifact.launch.grid[0], 1u);
  --artifact.launch.grid[0];
  const auto verification = runner_.verify(runner_.load(artifact).value());
  ASSERT_TRUE(verification);
  EXPECT_FALSE(verification->right);
  EXPECT_GT(verification->wrongly_written, 0);
}

TEST_P(IreeMatmulTest, IsAnErrorWhenDamaged) {
  provider::Artifact artifact = **artifact_;
  artifact.code.resize(artifact.code.size() / 4);
  EXPECT_FALSE(runner_.load(artifact));
  artifact = **artifact_;
  artifact.launch.entry = "another";
  EXPECT_THAT(runner_.load(artifact).error().message, HasSubstr("does not export 'another'"));
}

TEST_P(IreeMatmulTest, IsMeasuredBesideItself) {
  MeasureRequest request;
  request.handles = {runner_.load(**artifact_).value()};
  request.sentinel = runner_.load(**artifact_).value();
  request.protocol.max_samples = 8;
  const auto result = runner_.measure(request);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->handles[1].seconds.size(), static_cast<std::size_t>(result->rounds));
  EXPECT_GT(result->handles[0].launches_per_sample, 1);
}

INSTANTIATE_TEST_SUITE_P(Threads, IreeMatmulTest, testing::Values(1, 2),
                         [](const auto& each) { return fmt::format("Threads{}", each.param); });

}  // namespace
}  // namespace hone::measure
