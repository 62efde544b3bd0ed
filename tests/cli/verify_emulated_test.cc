// --verify-emulated: candidates for an MI300X that compute wrong results are found without one,
// real ones of the compiler and planted ones (in machine code: tests/amd/emulated_verification.py).
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <set>

#include "emulator/code_object.h"
#include "store/store.h"
#include "tests/cli/hone_command.h"

namespace hone::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr char kEmulated[] = "emulated gfx942 (no GPU)";

class VerifyEmulated : public HoneCommand {
 protected:
  static void SetUpTestSuite() {
    if (const Status there = emulator::check_disassembler(); !there)
      GTEST_SKIP() << there.error().message;
  }
  // The verdicts of the first dispatch, in the document of --json.
  nlohmann::json verify(std::vector<std::string> arguments) const {
    for (const char* word : {"--compile-only", "--target", "gfx942", "--verify-emulated", "--store",
                             "s.db", "--out", "out", "--quiet", "--json"})
      arguments.emplace_back(word);
    const nlohmann::json document = json(arguments);
    return document.value("dispatches", nlohmann::json::array({nlohmann::json()})).at(0);
  }
  store::Store open() const {
    return *store::Store::open(folder() / "s.db", store::Mode::kReadOnly);
  }
};

// A product whose left operand has k as its outer dimension, with a configuration of the compiler's
// own space whose workgroup tile (16) does not divide m (33), and one whose tile (48) exceeds it.
// Both compile; the first computes wrong results (docs/emulator.md, on faults of IREE's code).
TEST_F(VerifyEmulated, AWrongConfigurationOfTheCompilersIsFoundAndNotMeasured) {
  const std::string program = write("odd.mlir", R"(
func.func @odd(%a: tensor<64x33xf16>, %b: tensor<64x48xf16>) -> tensor<33x48xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<33x48xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<33x48xf32>) -> tensor<33x48xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>,
                       affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %b : tensor<64x33xf16>, tensor<64x48xf16>) outs(%f : tensor<33x48xf32>) {
  ^bb0(%x: f16, %y: f16, %c: f32):
    %p = arith.extf %x : f16 to f32
    %q = arith.extf %y : f16 to f32
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<33x48xf32>
  return %r : tensor<33x48xf32>
})");
  const auto configuration = [](int tile, int reduction) {
    return fmt::format(
        "pipeline=0,mma_idx=0,wg_0={},wg_1=48,red_2={},sg_0=1,sg_1=3,wg_size_x={},wg_size_y=1,"
        "wg_size_z=1,sg_size=64,sg_m_cnt=0,sg_n_cnt=0,prefetch_num_stages=2,waves_per_eu=0,"
        "pad_shared_memory=1,flush_denormals=0",
        tile, reduction, 4 * tile);
  };
  const nlohmann::json dispatch =
      verify({"tune", program, "--config", configuration(16, 4), "--config", configuration(48, 1)});
  ASSERT_TRUE(dispatch.contains("emulated")) << dispatch;
  EXPECT_EQ(dispatch.at("compiled"), 3);
  const nlohmann::json& verdicts = dispatch.at("emulated");
  EXPECT_EQ(verdicts.at("correct"), 2);  // the default too
  EXPECT_EQ(verdicts.at("not_verified"), nlohmann::json::array());
  ASSERT_EQ(verdicts.at("wrong").size(), 1u) << verdicts;
  const nlohmann::json& wrong = verdicts.at("wrong").at(0);
  EXPECT_EQ(wrong.at("kind"), "wrong");
  EXPECT_EQ(nlohmann::json::parse(wrong.at("configuration").get<std::string>()).at("wg_0"), 16);
  EXPECT_THAT(wrong.at("reason").get<std::string>(),
              HasSubstr("first at [0, 0]: expected 3562, got 8488"));
  std::set<int> ranked;
  for (const auto& row : dispatch.at("candidates")) ranked.insert(row.at("candidate").get<int>());
  EXPECT_EQ(ranked.size(), 2u);
  EXPECT_FALSE(ranked.contains(wrong.at("candidate").get<int>()));
#ifdef HONE_FAKE_HIP
  // Another device verifies all again, but for the wrong one.
  const Ran measured =
      hone({"tune", program, "--measure-only", "--store", "s.db", "--out", "out", "--no-baselines",
            "--budget", "4s", "--device", "hip:0", "--hip", HONE_FAKE_HIP});
  EXPECT_EQ(measured.exit_code, 0) << measured.out << measured.err;
  EXPECT_THAT(measured.err,
              HasSubstr("1 candidates are not measured: the emulator found them wrong"));
  std::vector<std::string> verified;
  store::Store store = open();
  const std::vector<store::CandidateView> rows = *store.candidate_rows();
  for (const store::CandidateView& row : rows)
    if (row.right)
      verified.push_back(fmt::format("{} {}", store.device(*row.device)->driver.substr(0, 4),
                                     *row.right ? "correct" : "wrong"));
  EXPECT_THAT(verified, testing::UnorderedElementsAre("hone correct", "hone correct", "hone wrong",
                                                      "HIP  correct", "HIP  correct"));
#endif
}

// Kernels of the user's own: one writes wrong numbers, one stores where it may not, one does not
// end.
TEST_F(VerifyEmulated, PlantedFaultsOfAKernelAreFound) {
  write("faulty.py", R"(
import triton
import triton.language as tl


@triton.jit
def faulty(a_ptr, b_ptr, c_ptr, M, N, K, BLOCK_M: tl.constexpr, FAULT: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.arange(0, 32)
    ks = tl.arange(0, 32)
    a = tl.load(a_ptr + rows[:, None] * K + ks[None, :])
    b = tl.load(b_ptr + ks[:, None] * N + columns[None, :])
    c = tl.dot(a, b)
    if FAULT == 1:
        c += tl.where(columns == 7, 1.0, 0.0)[None, :]
    if FAULT == 2:
        c_ptr = (c_ptr.to(tl.int64, bitcast=True) + (1 << 45)).to(c_ptr.dtype, bitcast=True)
    if FAULT == 3:
        for _ in range(K * 60000000):
            tl.debug_barrier()
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], c.to(c_ptr.dtype.element_ty))
)");
  write("faulty.yaml", R"(kernel: faulty
arguments: {a_ptr: A, b_ptr: B, c_ptr: C, M: M, N: N, K: K}
grid: ['cdiv(M, BLOCK_M)']
knobs: {BLOCK_M: [32], FAULT: [0, 1, 2, 3], num_warps: [4]}
default: {BLOCK_M: 32, FAULT: 0, num_warps: 4}
)");
  const nlohmann::json dispatch =
      verify({"tune", "--kernel", "faulty.py", "-m", "64", "-n", "32", "-k", "32",
              "--kernel-timeout", "2", "--env", "AMDGCN_USE_BUFFER_OPS=0"});
  ASSERT_TRUE(dispatch.contains("emulated")) << dispatch;
  const nlohmann::json& verdicts = dispatch.at("emulated");
  EXPECT_EQ(verdicts.at("correct"), 2) << verdicts;  // the default and its configuration
  ASSERT_EQ(verdicts.at("wrong").size(), 2u) << verdicts;
  std::map<std::string, std::string> reasons;
  for (const auto& row : verdicts.at("wrong")) reasons[row.at("kind")] = row.at("reason");
  EXPECT_THAT(reasons["wrong"], HasSubstr("first at [0, 7]"));
  EXPECT_THAT(reasons["kernel crash"], HasSubstr("Memory access fault by GPU node-1"));
  ASSERT_EQ(verdicts.at("not_verified").size(), 1u) << verdicts;
  EXPECT_EQ(verdicts.at("not_verified").at(0).at("kind"), "kernel timeout");
  const Ran text = hone({"tune", "--kernel", "faulty.py", "-m", "64", "-n", "32", "-k", "32",
                         "--env", "AMDGCN_USE_BUFFER_OPS=0", "--compile-only", "--target", "gfx942",
                         "--verify-emulated", "--store", "s.db", "--quiet"});
  EXPECT_THAT(text.out, AllOf(HasSubstr("on an emulator: 2 correct, 2 wrong, 1 not verified\n"),
                              HasSubstr("is not verified: kernel timeout: no answer after 2 s"),
                              HasSubstr("--kernel-timeout 600 --retry-failed")));
}

TEST_F(VerifyEmulated, IsRefusedInOneMessageWhereItDoesNotApply) {
  const auto refused = [&](std::vector<std::string> more,
                           const std::vector<EnvironmentChange>& environment = {}) {
    std::vector<std::string> arguments{"tune", example("matmul_f16.mlir"), "--verify-emulated"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Ran ran = hone(arguments, environment);
    EXPECT_EQ(ran.out, "");
    EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
    EXPECT_TRUE(std::filesystem::is_empty(folder())) << "nothing is made";
    return std::pair(ran.exit_code, ran.err);
  };
  EXPECT_THAT(refused({"--target", "gfx942"}),
              testing::Pair(2, HasSubstr("add --compile-only --target gfx942")));
  EXPECT_THAT(refused({"--compile-only"}),
              testing::Pair(2, HasSubstr("the emulator knows gfx942 only")));
  EXPECT_THAT(refused({"--compile-only", "--target", "gfx950"}),
              testing::Pair(2, HasSubstr("LLVM 19, by which it reads code, lacks gfx950")));
  EXPECT_THAT(refused({"--compile-only", "--target", "gfx942", "--shard", "1/2"}),
              testing::Pair(2, HasSubstr("--shard 1/2 and --verify-emulated exclude each other")));
  EXPECT_THAT(refused({"--compile-only", "--target", "gfx942"}, {{"PATH", "/nonexistent"}}),
              testing::Pair(3, HasSubstr("install it: apt-get install llvm-19")));
}

TEST_F(VerifyEmulated, TheEmulatorIsNoDeviceOfACommand) {
  EXPECT_THAT(hone({"devices"}).out, Not(HasSubstr(kEmulated)));
  const Ran named = hone({"verify", example("matmul_f16.mlir"), "--device", "emulated:0"});
  EXPECT_EQ(named.exit_code, 2) << named.out;
  EXPECT_THAT(named.err, HasSubstr("--device 'emulated:0': devices are cpu and cuda:0"));
}

// Sizes of a list, by Triton; a device computes nothing of it twice.
TEST_F(VerifyEmulated, AListOfGemmsIsVerifiedOnce) {
  write("sizes.yaml", "- {M: 33, N: 48, K: 80}\n");
  const std::vector<std::string> tune{"tune",   "sizes.yaml",   "--provider",
                                      "triton", "--candidates", "3"};
  const nlohmann::json dispatch = verify(tune);
  ASSERT_TRUE(dispatch.contains("emulated")) << dispatch;
  EXPECT_EQ(dispatch.at("emulated").at("correct"), 4);
  const auto verifications = [&] {
    std::size_t count = 0;
    store::Store store = open();
    const std::vector<store::CandidateView> rows = *store.candidate_rows();
    for (const store::CandidateView& row : rows)
      if (const auto details = store.details(row.candidate)) count += details->verifications.size();
    return count;
  };
  const std::size_t first = verifications();
  EXPECT_GE(first, 3u);
  EXPECT_EQ(verify(tune).at("emulated").at("correct"), 4);
  EXPECT_EQ(verifications(), first);
}

}  // namespace
}  // namespace hone::cli
