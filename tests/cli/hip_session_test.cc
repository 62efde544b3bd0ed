// Whole sessions on AMD's side, over a HIP library that emulates gfx942 (tests/amd): hone's device
// layer and IREE's own HIP runtime both run on it.
#ifdef HONE_FAKE_HIP
#include <gmock/gmock.h>
#include <sqlite3.h>

#include <filesystem>

#include "tests/cli/hone_command.h"

namespace hone::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class HipSession : public HoneCommand {
 protected:
  Ran on_hip(std::vector<std::string> arguments,
             const std::vector<EnvironmentChange>& environment = {}) const {
    for (const char* word : {"--device", "hip:0", "--hip", HONE_FAKE_HIP})
      arguments.emplace_back(word);
    return hone(arguments, environment);
  }
  std::string product() const {
    return write("product.mlir", R"(
func.func @product(%a: tensor<32x64xf16>, %b: tensor<64x48xf16>) -> tensor<32x48xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x48xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<32x48xf32>) -> tensor<32x48xf32>
  %r = linalg.matmul ins(%a, %b : tensor<32x64xf16>, tensor<64x48xf16>)
    outs(%f : tensor<32x48xf32>) -> tensor<32x48xf32>
  return %r : tensor<32x48xf32>
})");
  }
};

// From the listing of the device to the proof by iree-run-module --device=hip. An emulator's
// times ship nothing, whether anything seems faster or not.
TEST_F(HipSession, AProductIsTunedFromStartToProof) {
  const Ran ran = on_hip({"tune", product(), "--no-flags", "--candidates", "4", "--budget", "12s",
                          "--out", "out", "--json"});
  const auto document = nlohmann::json::parse(ran.out, nullptr, false);
  ASSERT_FALSE(document.is_discarded()) << ran.out << ran.err;
  const std::string outcome = document.at("verdict").at("outcome");
  EXPECT_TRUE(outcome == "nothing faster" || outcome == "not proved") << ran.out;
  EXPECT_EQ(document.at("wrong_by_default"), nlohmann::json::array());
  const Ran stored = hone({"store", "list", "--json"});
  const auto rows = nlohmann::json::parse(stored.out, nullptr, false).at("dispatches");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].at("device"), "emulated gfx942 (no GPU)");
  EXPECT_EQ(rows[0].at("wrong"), 0);
  EXPECT_TRUE(rows[0].at("failed").empty()) << rows[0];
  EXPECT_GE(rows[0].at("right").get<int>(), 2);  // the default, and candidates as time allows
  const std::string script = read_file(folder() / "out/run.sh").value_or("");
  EXPECT_THAT(script, AllOf(HasSubstr("--device=hip"),
                            HasSubstr("--hip_dylib_path=file:" + std::string(HONE_FAKE_HIP))));
}

TEST_F(HipSession, AProgramIsVerifiedAgainstTheHost) {
  const Ran ran = on_hip({"verify", product()});
  EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("32x48xf32, right"));
}

TEST_F(HipSession, DispatchesAreThoseOfTheNamedDevice) {
  EXPECT_THAT(on_hip({"dispatches", product()}).out, HasSubstr("MFMA_F32_16x16x16_F16"));
}

// The runner ends, not the session.
TEST_F(HipSession, AHangAndALostDeviceCostACall) {
  for (const auto& [script, words] :
       {std::pair{"* hang", "no answer after 2 s"}, std::pair{"* lost", "hipErrorUnknown"}}) {
    const Ran ran = on_hip({"tune", product(), "--no-flags", "--no-program", "--candidates", "1",
                            "--budget", "5s", "--kernel-timeout", "2", "--store", "faulty.db"},
                           {{"HONE_FAKE_HIP_TIMES", write("times", script)}});
    EXPECT_EQ(ran.exit_code, 1) << ran.out << ran.err;
    EXPECT_THAT(hone({"store", "export", "faulty.db"}).out, HasSubstr(words)) << ran.err;
    std::filesystem::remove(folder() / "faulty.db");
  }
}

// A kernel's illegal store ends the runner, as HIP before 7 does: one candidate fails, with the
// runtime's last words.
TEST_F(HipSession, AnIllegalAddressCostsOneCandidate) {
  write("faulty.py", R"(
import triton
import triton.language as tl


@triton.jit
def faulty(a_ptr, b_ptr, c_ptr, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, FAULT: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.arange(0, BLOCK_N)
    ks = tl.arange(0, 32)
    a = tl.load(a_ptr + rows[:, None] * K + ks[None, :])
    b = tl.load(b_ptr + ks[:, None] * N + columns[None, :])
    if FAULT == 1:
        c_ptr = (c_ptr.to(tl.int64, bitcast=True) + (1 << 45)).to(c_ptr.dtype, bitcast=True)
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], tl.dot(a, b).to(c_ptr.dtype.element_ty))
)");
  write("faulty.yaml", R"(kernel: faulty
arguments: {a_ptr: A, b_ptr: B, c_ptr: C, M: M, N: N, K: K}
grid: ['cdiv(M, BLOCK_M)']
knobs: {BLOCK_M: [32, 64], BLOCK_N: [32], FAULT: [0, 1], num_warps: [4]}
default: {BLOCK_M: 32, BLOCK_N: 32, FAULT: 0, num_warps: 4}
)");
  const Ran ran = on_hip({"tune", "--kernel", "faulty.py", "-m", "64", "-n", "32", "-k", "32",
                          "--budget", "6s", "--store", "faulty.db", "--env",
                          "AMDGCN_USE_BUFFER_OPS=0", "--env", "HIP_SKIP_ABORT_ON_GPU_ERROR=0"});
  const auto rows =
      nlohmann::json::parse(hone({"store", "list", "--json", "faulty.db"}).out, nullptr, false)
          .at("dispatches");
  ASSERT_EQ(rows.size(), 1u) << ran.out << ran.err;
  EXPECT_EQ(rows[0].at("failed"), nlohmann::json({{"kernel crash", 2}}));
  EXPECT_EQ(rows[0].at("wrong"), 0);
  EXPECT_EQ(rows[0].at("right"), 3);
  EXPECT_THAT(hone({"store", "export", "faulty.db"}).out,
              AllOf(HasSubstr("SIGABRT"), HasSubstr("Memory access fault by GPU node-1")));
}

// Candidates differ by their workgroups, and the script makes the one that is wrong the fastest.
TEST_F(HipSession, AWrongCandidateThatIsTheFastestLosesToTheFastestRightOne) {
  write("hasty.py", R"(
import triton
import triton.language as tl


@triton.jit
def hasty(a_ptr, b_ptr, c_ptr, M, N, K, BLOCK_M: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.arange(0, 32)
    ks = tl.arange(0, 32)
    a = tl.load(a_ptr + rows[:, None] * K + ks[None, :])
    b = tl.load(b_ptr + ks[:, None] * N + columns[None, :])
    c = tl.dot(a, b)
    if BLOCK_M == 64:
        c += tl.where(columns == 7, 1.0, 0.0)[None, :]
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], c.to(c_ptr.dtype.element_ty))
)");
  write("hasty.yaml", R"(kernel: hasty
arguments: {a_ptr: A, b_ptr: B, c_ptr: C, M: M, N: N, K: K}
grid: ['cdiv(M, BLOCK_M)']
knobs: {BLOCK_M: [16, 32, 64], num_warps: [4]}
default: {BLOCK_M: 32, num_warps: 4}
)");
  const Ran ran =
      on_hip({"tune", "--kernel", "hasty.py", "-m", "64", "-n", "32", "-k", "32", "--budget", "10s",
              "--store", "hasty.db", "--json"},
             {{"HONE_FAKE_HIP_TIMES", write("times", "hasty@1 100\nhasty@4 200\nhasty@2 400\n")}});
  const auto rows =
      nlohmann::json::parse(hone({"store", "list", "--json", "hasty.db"}).out, nullptr, false)
          .at("dispatches");
  ASSERT_EQ(rows.size(), 1u) << ran.out << ran.err;
  EXPECT_EQ(rows[0].at("wrong"), 1);
  EXPECT_EQ(rows[0].at("right"), 3);  // the default twice: as such, and as a configuration
  const auto document = nlohmann::json::parse(ran.out, nullptr, false);
  const auto& winner = document.at("dispatches").at(0);
  EXPECT_EQ(winner.at("configuration").at("BLOCK_M"), 16) << winner;
  EXPECT_EQ(winner.at("speedup").at("speedup"), 2.0);
}

// The script makes Triton's split-K the fastest: only it has 16 workgroups. The program is compiled
// with its code object and called by IREE's HIP runtime, whose results decide what is left out.
TEST_F(HipSession, ATritonKernelTakesThePlaceOfIreesInTheProgram) {
  const std::string deep = write("deep.mlir", R"(
func.func @deep(%a: tensor<16x1024xf16>, %b: tensor<1024x32xf16>) -> tensor<16x32xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x32xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<16x32xf32>) -> tensor<16x32xf32>
  %r = linalg.matmul ins(%a, %b : tensor<16x1024xf16>, tensor<1024x32xf16>)
    outs(%f : tensor<16x32xf32>) -> tensor<16x32xf32>
  return %r : tensor<16x32xf32>
})");
  const Ran ran = on_hip({"tune", deep, "--provider", "iree,triton", "--no-flags", "--candidates",
                          "2", "--budget", "14s", "--json"},
                         {{"HONE_FAKE_HIP_TIMES", write("times", "*@16 20\n* 400\n")}});
  const auto document = nlohmann::json::parse(ran.out, nullptr, false);
  ASSERT_FALSE(document.is_discarded()) << ran.out << ran.err;
  const auto& winner = document.at("dispatches").at(0);
  EXPECT_THAT(std::string(winner.at("provider")), testing::StartsWith("triton@")) << winner;
  EXPECT_EQ(winner.at("configuration").at("SPLIT_K"), 8);
  EXPECT_NEAR(winner.at("speedup").at("speedup").get<double>(), 20, 1e-3);
  EXPECT_EQ(document.at("gpu").at(0).at("wrong"), 0);
  EXPECT_EQ(document.at("programs").size(), 2u) << "as it is, and with the kernel";
  // Wrong results would be a reason, and the emulator's slowness is one.
  for (const auto& left_out : document.at("left_out"))
    EXPECT_THAT(std::string(left_out.at("reason")),
                testing::AnyOf(HasSubstr("the program is no different with it"),
                               HasSubstr("the program is slower with it")));
}

// The linker of AMD code objects in IREE's wheel.
std::string object_linker() {
  std::filesystem::path linker;
  for (const auto& python : std::filesystem::directory_iterator(HONE_SOURCE_DIR "/.venv/lib"))
    linker = python.path() / "site-packages/iree/compiler/_mlir_libs/iree-lld";
  return linker;
}

// tests/amd/split.ll by LLVM 19 and IREE's linker: the folder then has split.hsaco.
bool make_object(const std::filesystem::path& folder, const std::string& processor) {
  const std::string object = folder / "split.o";
  const auto runs = [](std::vector<std::string> words) {
    const auto ran = run_process({.arguments = std::move(words)}, {.seconds = 60});
    return ran && ran->succeeded();
  };
  return runs({"llc-19", "-O2", "-mcpu=" + processor, "-filetype=obj", "-o", object,
               HONE_SOURCE_DIR "/tests/amd/split.ll"}) &&
         runs({object_linker(), "-flavor", "gnu", "-shared", object, "-o", folder / "split.hsaco"});
}

// A user's source, which the build makes into a code object under the dispatch's name.
TEST_F(HipSession, AUsersSourceCompetesInADispatch) {
  write("product.ll", read_file(HONE_SOURCE_DIR "/tests/amd/product.ll").value());
  write("build.sh", R"(set -e
sed -e "s/ENTRY/$3/; s/ALL/$5/; s/COLUMNS/$6/; s/DEPTH/$7/" "$1" > "$2.ll"
llc-19 -O2 -mcpu="$4" -filetype=obj -o "$2.o" "$2.ll"
)" + object_linker() + R"( -flavor gnu -shared "$2.o" -o "$2"
)");
  write("mine.yaml", R"(kernel: '{entry}'
operation: matmul
operands:
  A: {type: f32, layout: [M, K]}
  B: {type: f32, layout: [K, N]}
  C: {type: f32, layout: [M, N]}
source: product.ll
build: sh build.sh {source} {object} {entry} {target} {ALL} {N} {K}
arguments: [A, B, C]
grid: cdiv(M * N, 64)
block: 64
knobs: {ALL: [640]}
default: {ALL: 640}
)");
  const std::string program = write("rows.mlir", R"(
func.func @rows(%a: tensor<20x40xf32>, %b: tensor<40x32xf32>) -> tensor<20x32xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<20x32xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<20x32xf32>) -> tensor<20x32xf32>
  %r = linalg.matmul ins(%a, %b : tensor<20x40xf32>, tensor<40x32xf32>)
    outs(%f : tensor<20x32xf32>) -> tensor<20x32xf32>
  return %r : tensor<20x32xf32>
})");
  const Ran ran = on_hip({"tune", program, "--provider", "iree,external", "--external", "mine.yaml",
                          "--no-flags", "--candidates", "1", "--budget", "10s", "--json"},
                         {{"HONE_FAKE_HIP_TIMES", write("times", "*@10 20\n* 400\n")}});
  const auto document = nlohmann::json::parse(ran.out, nullptr, false);
  ASSERT_FALSE(document.is_discarded()) << ran.out << ran.err;
  const auto& winner = document.at("dispatches").at(0);
  EXPECT_THAT(std::string(winner.at("provider")), testing::StartsWith("external:mine"))
      << winner << ran.err;
  EXPECT_EQ(document.at("gpu").at(0).at("wrong"), 0);
  EXPECT_EQ(document.at("programs").size(), 2u) << "as it is, and with the kernel";
}

// A user's code object for gfx940, which keeps sums in scratch memory and reads f32 and the second
// operand transposed, beside kernels of IREE's for gfx942.
TEST_F(HipSession, AnObjectForGfx940RunsBesideIreesKernels) {
  ASSERT_TRUE(make_object(folder(), "gfx940"));
  const std::string manifest = R"(kernel: split
operation: matmul
operands:
  A: {type: f32, layout: [M, K]}
  B: {type: f32, layout: [N, K]}
  C: {type: f32, layout: [M, N]}
object: split.hsaco
arguments: [A, B, scratch, C, M, N, K]
scratch: 8 * M * N
grid: ['cdiv(M * N, 64)', 2]
block: 64
)";
  write("split.yaml", manifest);
  const std::string program = write("two.mlir", R"(
func.func @two(%a: tensor<20x40xf16>, %b: tensor<40x24xf16>) -> tensor<20x24xf16> {
  %z = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<20x24xf16>
  %f = linalg.fill ins(%z : f16) outs(%e : tensor<20x24xf16>) -> tensor<20x24xf16>
  %r = linalg.matmul ins(%a, %b : tensor<20x40xf16>, tensor<40x24xf16>)
    outs(%f : tensor<20x24xf16>) -> tensor<20x24xf16>
  %x = math.absf %r : tensor<20x24xf16>
  return %x : tensor<20x24xf16>
})");
  const std::vector<std::string> placing{"spec",       "external", program, "--external",
                                         "split.yaml", "--out",    "out"};
  const Ran refused = on_hip(placing);
  EXPECT_EQ(refused.exit_code, 2) << refused.out;
  EXPECT_THAT(refused.err,
              HasSubstr("the code is for gfx940, not for gfx942; gfx942 has its instructions: "
                        "'processor: gfx942' in the manifest places a copy that names it"));
  write("split.yaml", manifest + "processor: gfx942\n");
  const Ran placed = on_hip(placing);
  EXPECT_EQ(placed.exit_code, 0) << placed.out << placed.err;
  EXPECT_THAT(placed.out,
              AllOf(HasSubstr("B: f16 to f32, transposed from K x N to N x K"),
                    HasSubstr("16  address     scratch"),
                    HasSubstr("outputs were compared on an emulator; its times say nothing")));
  // A kernel that keeps half of its sums is wrong.
  std::string less = manifest + "processor: gfx942\n";
  less.replace(less.find(", 2]"), 4, ", 1]");
  write("split.yaml", less);
  const Ran wrong = on_hip(placing);
  EXPECT_EQ(wrong.exit_code, 1) << wrong.out << wrong.err;
}

TEST_F(HipSession, AListOfTritonsGemmsIsTuned) {
  write("sizes.yaml", "- {M: 64, N: 64, K: 64}\n- {M: 33, N: 48, K: 80}\n");
  const Ran ran = on_hip({"tune", "sizes.yaml", "--provider", "triton", "--candidates", "4",
                          "--budget", "16s", "--o", "best.yaml"});
  EXPECT_LE(ran.exit_code, 1) << ran.out << ran.err;
  const auto rows =
      nlohmann::json::parse(hone({"store", "list", "--json"}).out, nullptr, false).at("dispatches");
  ASSERT_EQ(rows.size(), 2u) << ran.out << ran.err;
  for (const auto& row : rows) {
    EXPECT_EQ(row.at("wrong"), 0);
    EXPECT_GE(row.at("right").get<int>(), 2);
  }
  const Ran emitted = hone({"spec", "emit", "--out", "emitted"});
  EXPECT_EQ(emitted.exit_code, 2) << emitted.out;
  EXPECT_THAT(emitted.err, HasSubstr("tuned on an emulator only")) << emitted.err;
  EXPECT_FALSE(std::filesystem::exists(folder() / "emitted"));
}

TEST_F(HipSession, ABlockOfAttentionIsTunedFromStartToProof) {
  const std::string block = std::string(HONE_SOURCE_DIR) + "/examples/attention_block.mlir";
  const Ran ran = on_hip({"tune", block, "--no-flags", "--candidates", "2", "--budget", "20s",
                          "--out", "out", "--json"});
  const auto document = nlohmann::json::parse(ran.out, nullptr, false);
  ASSERT_FALSE(document.is_discarded()) << ran.out << ran.err;
  EXPECT_EQ(document.at("wrong_by_default"), nlohmann::json::array());
  const std::string outcome = document.at("verdict").at("outcome");
  EXPECT_TRUE(outcome == "nothing faster" || outcome == "not proved") << ran.out;
  EXPECT_THAT(read_file(folder() / "out/run.sh").value_or(""), HasSubstr("--device=hip"));
  const auto rows =
      nlohmann::json::parse(hone({"store", "list", "--json"}).out, nullptr, false).at("dispatches");
  EXPECT_GE(rows.size(), 3u);
  for (const auto& row : rows) EXPECT_EQ(row.at("wrong"), 0) << row;
}

// Flags, a profile, and a comparison of a store with itself, each on small work.
TEST_F(HipSession, TheOtherCommandsRun) {
  const Ran flags = on_hip({"flags", product(), "--budget", "5s", "--out", "flags"});
  EXPECT_EQ(flags.exit_code, 0) << flags.out << flags.err;
  const Ran profile = on_hip({"dispatches", product(), "--profile"});
  EXPECT_EQ(profile.exit_code, 0) << profile.out << profile.err;
  EXPECT_THAT(profile.out, HasSubstr("product_dispatch_0"));
  const Ran tuned = on_hip({"tune", product(), "--no-flags", "--no-program", "--candidates", "2",
                            "--budget", "6s", "--store", "a.db"});
  EXPECT_LE(tuned.exit_code, 1) << tuned.out << tuned.err;
  const Ran compared = on_hip({"compare", "a.db", "a.db"});
  EXPECT_EQ(compared.exit_code, 0) << compared.out << compared.err;
  // The same results as if a GPU had them: choices by an emulator's times are not set against them.
  std::filesystem::copy_file(folder() / "a.db", folder() / "b.db");
  sqlite3* gpu = nullptr;
  ASSERT_EQ(sqlite3_open((folder() / "b.db").c_str(), &gpu), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(gpu,
                         "UPDATE device_identity SET "
                         "protocol = json_remove(protocol, '$.identity.emulated')",
                         nullptr, nullptr, nullptr),
            SQLITE_OK);
  EXPECT_EQ(sqlite3_changes(gpu), 1);
  sqlite3_close(gpu);
  const Ran refused = on_hip({"compare", "a.db", "b.db"});
  EXPECT_EQ(refused.exit_code, 2) << refused.out;
  EXPECT_THAT(refused.err, HasSubstr("one of 'a.db' and 'b.db' chose it by times of an emulator, "
                                     "which are no device's; tune it on the device"));
}

}  // namespace
}  // namespace hone::cli
#endif
