// Kernels that crash, hang or write where they should not, in a real session: the code of
// candidates in the store is replaced by that of such kernels, and the session goes on from there.
#include "store/store.h"
#include "tests/cli/running_tune.h"
#include "tests/device/kernel_library.h"

namespace hone::cli {
namespace {

class KernelFaults : public RunningTune {
 protected:
  static constexpr int kCandidates = 4;

  // Compiles candidates in a session, forgets what they gave, and puts `code` in the place of the
  // first one's.
  void plant(const std::string& code) {
    const Ran first = hone(arguments(kCandidates), environment());
    ASSERT_LE(first.exit_code, 1) << first.err;
    auto store = store::Store::open(folder() / "hone.db", store::Mode::kReadWrite);
    ASSERT_TRUE(store);
    candidate_ = rows()[0]["candidate"].get<store::Id>();
    auto artifact = store->load_artifact(candidate_);
    ASSERT_TRUE(artifact) << artifact.error().message;
    artifact->code = code;
    artifact->identity = "planted";
    ASSERT_TRUE(store->record(*artifact));
  }
  void plant_kernel(const std::string& body) {
    // Launched as the compiler's own: its export is found by ordinal when the name is not given.
    plant(test::kernel_library(body, {.bindings = 3}));
    auto store = store::Store::open(folder() / "hone.db", store::Mode::kReadWrite);
    ASSERT_TRUE(store);
    auto artifact = store->load_artifact(candidate_);
    ASSERT_TRUE(artifact);
    artifact->launch = R"({"entry":"kernel","ordinal":0,"grid":[1,1,1],"block":[1,1,1],)"
                       R"("shared_bytes":0,"constants":[]})";
    ASSERT_TRUE(store->record(*artifact));
  }
  // The session again; the planted candidate's row afterwards.
  nlohmann::json row_after_running() {
    const Ran again = hone(arguments(kCandidates), environment());
    EXPECT_LE(again.exit_code, 1) << again.err;
    expect_complete(kCandidates);
    for (const auto& row : rows())
      if (row["candidate"] == candidate_) return row;
    return {};
  }

 private:
  store::Id candidate_ = 0;
};

TEST_F(KernelFaults, ACrashIsARow) {
  plant_kernel("*(volatile int*)8 = 1;");
  const nlohmann::json row = row_after_running();
  EXPECT_EQ(row["failure_kind"], "kernel crash");
  EXPECT_EQ(row["failure_message"], "SIGSEGV");
}

TEST_F(KernelFaults, ADivisionByZeroIsARow) {
  plant_kernel("volatile int zero = 0; return 7 / zero;");
  EXPECT_EQ(row_after_running()["failure_message"], "SIGFPE");
}

TEST_F(KernelFaults, AnEndlessLoopIsARow) {
  plant_kernel("for (volatile int i = 0;;) i = 0;");
  const nlohmann::json row = row_after_running();
  EXPECT_EQ(row["failure_kind"], "kernel timeout");
  EXPECT_EQ(row["failure_message"], "no answer after 2 s");
}

TEST_F(KernelFaults, AWriteBehindTheOutputIsARow) {
  plant_kernel("((float*)dispatch->bindings[2])[64 * 64] = 1;");
  const nlohmann::json row = row_after_running();
  EXPECT_EQ(row["state"], "wrong");
}

// The stack runs into its guard page.
TEST_F(KernelFaults, EndlessRecursionIsARow) {
  plant_kernel(
      "volatile char frame[4096]; frame[0] = 1; return kernel(environment, dispatch, workgroup) + "
      "frame[0];");
  EXPECT_EQ(row_after_running()["failure_kind"], "kernel crash");
}

TEST_F(KernelFaults, ReadingWhatNobodyWroteIsARow) {
  // The sum starts from what is in the output: poison.
  plant_kernel(R"(
    const float* a = dispatch->bindings[0]; const float* b = dispatch->bindings[1];
    float* c = dispatch->bindings[2]; float memory[4096]; float* volatile behind = memory;
    for (int i = 0; i < 64; ++i)
      for (int j = 0; j < 64; ++j) {
        float sum = behind[(i * 64 + j) % 4096] + c[i * 64 + j];
        for (int k = 0; k < 64; ++k) sum += a[i * 64 + k] * b[k * 64 + j];
        c[i * 64 + j] = sum;
      })");
  EXPECT_EQ(row_after_running()["state"], "wrong");
}

TEST_F(KernelFaults, CodeThatIsCutOffIsARow) {
  plant(test::kernel_library("").substr(0, 600));
  EXPECT_EQ(row_after_running()["failure_kind"], "load error");
}

TEST_F(KernelFaults, CodeThatIsNoCodeIsARow) {
  plant("not an ELF file");
  const nlohmann::json row = row_after_running();
  EXPECT_EQ(row["failure_kind"], "load error");
  EXPECT_EQ(row["failure_message"], "the code (15 bytes) is not an ELF file");
}

// The loader itself dies of it: the entry of the dynamic section points nowhere.
TEST_F(KernelFaults, CodeThatTakesTheLoaderDownIsARow) {
  std::string code = test::kernel_library("", {.bindings = 3});
  for (std::size_t at = 64; at + 56 <= 64 + 56 * 16; at += 56)
    if (code[at] == 2 && code[at + 1] == 0) code[at + 22] = 0x7f;  // PT_DYNAMIC's address
  plant(code);
  const nlohmann::json row = row_after_running();
  EXPECT_EQ(row["state"], "failed");
  EXPECT_NE(row["failure_message"], "");
}

}  // namespace
}  // namespace hone::cli
