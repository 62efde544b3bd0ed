// What hone spec emit writes of candidates that Triton compiled here, without a GPU.
#include <gmock/gmock.h>

#include "tests/cli/hone_command.h"

namespace hone::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class SpecEmit : public HoneCommand {
 protected:
  std::string text(const std::string& name) const {
    return read_file(folder() / name).value_or("(missing)");
  }
};

TEST_F(SpecEmit, WritesTheDefaultAsYamlPythonAndCode) {
  for (const auto& [target, suffix, header] :
       {std::tuple("sm_90", ".cubin", "#include <cuda.h>"),
        std::tuple("gfx942", ".hsaco", "#include <hip/hip_runtime_api.h>")}) {
    const std::string store = std::string(target) + ".db", out = target;
    const std::string triton = HONE_SOURCE_DIR "/.venv";
    const Ran tuned = hone({"tune",     "-m",     "256",
                            "-n",       "128",    "-k",
                            "64",       "-col_b", "--compile-only",
                            "--target", target,   "--candidates",
                            "1",        "--jobs", "1",
                            "--store",  store,    "--quiet",
                            "--triton", triton});
    ASSERT_EQ(tuned.exit_code, 0) << tuned.err;
    const Ran ran = hone(
        {"spec", "emit", "--format", "triton", "--store", store, "--out", out, "--candidate", "1"});
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    const std::string name = "gemm_256x128x64_f16_f16_f16_nt";
    EXPECT_THAT(text(out + "/gemms.yaml"),
                StartsWith("- {'M': 256, 'N': 128, 'K': 64, 'rowMajorA': 'T', 'rowMajorB': 'N', "
                           "BLOCK_SIZE_M: 128, BLOCK_SIZE_N: 128, BLOCK_SIZE_K: 64, "
                           "GROUP_SIZE_M: 8, SPLIT_K: 1, num_warps: 8, "));
    EXPECT_THAT(text(out + "/hone_gemms.py"), HasSubstr(std::string("found: ") + target));
    EXPECT_THAT(text(out + "/aot/" + name + ".h"), HasSubstr(header));
    EXPECT_THAT(text(out + "/aot/" + name + ".h"), HasSubstr("\"gemm_blocked\""));
    EXPECT_THAT(text(out + "/aot/" + name + ".0" + suffix), StartsWith("\177ELF"));
    // A result is an input.
    const Ran again =
        hone({"tune", out + "/gemms.yaml", "--compile-only", "--target", target, "--candidates",
              "1", "--jobs", "1", "--store", store, "--quiet", "--triton", triton});
    EXPECT_EQ(again.exit_code, 0) << again.err;
  }
}

TEST_F(SpecEmit, SaysWhatIsMissing) {
  EXPECT_EQ(hone({"spec", "emit", "--store", "missing.db"}).exit_code, 2);
  const Ran tuned = hone({"tune", example("matmul_f16.mlir"), "--compile-only", "--target",
                          "gfx942", "--candidates", "1", "--jobs", "1"});
  ASSERT_EQ(tuned.exit_code, 0) << tuned.err;
  const Ran none = hone({"spec", "emit"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err, HasSubstr("hone.db' has no GEMM tuned by Triton; hone tune --provider "
                                  "triton makes them"));
  const Ran other = hone({"spec", "emit", "--candidate", "1"});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_EQ(other.err, "hone: candidate 1 is not Triton's but of iree\n");
  EXPECT_FALSE(std::filesystem::exists(folder() / "out" / "gemms.yaml"));
}

}  // namespace
}  // namespace hone::cli
