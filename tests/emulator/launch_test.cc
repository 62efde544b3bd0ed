// Code objects and launches: a kernel of IREE's that doubles 64 floats, and what is refused.
#include "emulator/launch.h"

#include <gmock/gmock.h>

#include <array>
#include <cstdlib>
#include <cstring>

#include "base/file.h"
#include "emulator/race_watch.h"

namespace hone::emulator {
namespace {

std::string corpus(const std::string& name) {
  return read_file(std::string(HONE_SOURCE_DIR) + "/tests/fuzz/corpus/" + name).value();
}
std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

// Disassembly is that of llvm-objdump-19; without it the test is left out.
#define ASSERT_CODE(code, text)                                     \
  const Result<CodeObject> code = read_code_object(bytes_of(text)); \
  if (!code && code.error().kind == ErrorKind::kEnvironment) GTEST_SKIP() << code.error().message

constexpr char kKernel[] = "main_dispatch_0_elementwise_64_f32";

TEST(CodeObject, DescribesItsKernels) {
  const std::string file = corpus("code_object/code-object");
  ASSERT_CODE(code, file);
  ASSERT_TRUE(code.has_value()) << code.error().message;
  EXPECT_TRUE(is_gfx942(bytes_of(file)));
  EXPECT_EQ(code_object_bytes(file.data()), 4336u) << "up to the end of its section headers";
  ASSERT_EQ(code->kernels().size(), 1u);
  const Kernel* kernel = code->kernel(kKernel);
  ASSERT_NE(kernel, nullptr);
  EXPECT_EQ(code->kernel("another"), nullptr);
  EXPECT_EQ(kernel->argument_bytes, 16u);
  EXPECT_EQ(kernel->most_threads, 64u);
  EXPECT_EQ(kernel->local_bytes, 0u);
  EXPECT_EQ(kernel->preload_dwords, 4u);
  EXPECT_EQ(kernel->entry, 0x1700u) << "behind the prologue for firmware that does not preload";
  EXPECT_EQ(kernel->mode, 0x3f0u);
  ASSERT_EQ(kernel->arguments.size(), 2u);
  EXPECT_EQ(kernel->arguments[1].offset, 8u);
  EXPECT_EQ(kernel->arguments[1].size, 8u);
  EXPECT_EQ(kernel->arguments[1].kind, "global_buffer");
}

TEST(CodeObject, OfAnotherTargetOrCutOffIsRefused) {
  const auto message = [](const std::string& file) {
    return read_code_object(bytes_of(file)).error().message;
  };
  EXPECT_EQ(message("text"), "the code object is no 64-bit ELF file");
  const std::string file = corpus("code_object/code-object");
  EXPECT_EQ(message(file.substr(0, 64)), "the code object is cut off");
  std::string other = file;
  other[48] = 0x3f;  // e_flags: gfx90a
  EXPECT_EQ(message(other), "the code object is for another target than gfx942 (machine 0x3f)");
  EXPECT_FALSE(is_gfx942(bytes_of(other)));
}

TEST(CodeObject, WithoutTheDisassemblerSaysHowToInstallIt) {
  const std::string path = std::getenv("PATH");
  setenv("PATH", "/nowhere", 1);
  const Result<CodeObject> code = read_code_object(bytes_of(corpus("code_object/code-object")));
  setenv("PATH", path.c_str(), 1);
  ASSERT_FALSE(code.has_value());
  EXPECT_EQ(code.error().kind, ErrorKind::kEnvironment);
  EXPECT_THAT(code.error().message, testing::HasSubstr("llvm-objdump-19"));
  EXPECT_THAT(code.error().message, testing::EndsWith("; install it: apt-get install llvm-19"));
}

class Launch : public testing::Test {
 protected:
  void SetUp() override {
    Result<CodeObject> code = read_code_object(bytes_of(file_));
    if (!code) GTEST_SKIP() << code.error().message;
    code_ = std::move(*code);
    kernel_ = code_.kernel(kKernel);
    for (std::size_t i = 0; i < 64; ++i) input_[i] = static_cast<float>(i);
  }
  tl::expected<LaunchCounts, Fault> run(const void* input,
                                        const LaunchSizes& sizes = {{1, 1, 1}, {64, 1, 1}, 0},
                                        const LaunchOptions& options = {}) {
    const void* pointers[] = {input, output_.data()};
    return launch(code_, *kernel_, sizes, std::as_bytes(std::span(pointers)), memory_, options);
  }

  std::string file_ = corpus("code_object/code-object");
  CodeObject code_;
  const Kernel* kernel_ = nullptr;
  Memory memory_;
  std::array<float, 64> input_{};
  std::array<float, 64> output_{};
};

TEST_F(Launch, RunsAKernel) {
  memory_.add(input_.data(), sizeof input_);
  memory_.add(output_.data(), sizeof output_);
  const auto counts = run(input_.data());
  ASSERT_TRUE(counts.has_value()) << counts.error().words;
  EXPECT_EQ(counts->waves, 1u);
  EXPECT_EQ(counts->wave_instructions, 13u);
  for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(output_[i], 2 * static_cast<float>(i));
  EXPECT_TRUE(counts->changed_memory);
  const auto again = run(input_.data());
  ASSERT_TRUE(again.has_value());
  EXPECT_FALSE(again->changed_memory) << "every byte has its value";
}

TEST_F(Launch, FaultsOutsideAllocations) {
  memory_.add(input_.data(), sizeof input_ - 4);
  memory_.add(output_.data(), sizeof output_);
  const auto counts = run(input_.data());
  ASSERT_FALSE(counts.has_value());
  EXPECT_EQ(counts.error().kind, FaultKind::kMemory);
  EXPECT_THAT(counts.error().words, testing::StartsWith("Memory access fault by GPU node-1 "));
  EXPECT_THAT(counts.error().words,
              testing::HasSubstr("(kernel main_dispatch_0_elementwise_64_f32, at 0x171c: "
                                 "buffer_load_dword v1, v0, s[0:3], 0 offen)"));
}

TEST_F(Launch, StopsAtItsLimitOfInstructions) {
  memory_.add(input_.data(), sizeof input_);
  memory_.add(output_.data(), sizeof output_);
  const auto counts =
      run(input_.data(), {{1, 1, 1}, {64, 1, 1}, 0}, LaunchOptions{WaveOrder::kForward, 5, false});
  ASSERT_FALSE(counts.has_value());
  EXPECT_EQ(counts.error().kind, FaultKind::kInstructionLimit);
  EXPECT_EQ(counts.error().words, "no end after 5 wave instructions");
}

TEST_F(Launch, RefusesSizesThatTheHardwareRefuses) {
  const auto words = [&](const LaunchSizes& sizes) {
    const auto counts = run(input_.data(), sizes);
    return counts ? std::string() : counts.error().words;
  };
  EXPECT_EQ(
      words({{1, 1, 1}, {65, 1, 1}, 0}),
      "65 threads in a workgroup of kernel main_dispatch_0_elementwise_64_f32, which allows 64");
  EXPECT_EQ(words({{1, 1, 1}, {64, 1, 1}, 65537}),
            "65537 bytes of local memory, of which gfx942 has 65536");
  EXPECT_EQ(words({{1, 0, 1}, {64, 1, 1}, 0}), "a launch of nothing");
}

TEST(RaceWatch, NamesTwoWavesWithoutABarrierBetween) {
  RaceWatch watch(64);
  EXPECT_EQ(watch.note(0, 16, 4, Access::kWrite), std::nullopt);
  EXPECT_EQ(watch.note(0, 16, 4, Access::kRead), std::nullopt);
  EXPECT_EQ(
      watch.note(1, 18, 4, Access::kRead),
      "race in local memory: wave 1 reads offset 18, which wave 0 wrote since the last barrier");
  watch.pass_barrier();
  EXPECT_EQ(watch.note(1, 16, 4, Access::kRead), std::nullopt);
  EXPECT_EQ(watch.note(2, 16, 4, Access::kRead), std::nullopt);
  EXPECT_EQ(
      watch.note(2, 16, 1, Access::kWrite),
      "race in local memory: wave 2 writes offset 16, which wave 1 read since the last barrier");
  EXPECT_EQ(watch.note(3, 48, 4, Access::kWrite), std::nullopt);
  EXPECT_EQ(watch.note(4, 48, 4, Access::kRewrite), std::nullopt);
  EXPECT_EQ(watch.note(4, 48, 4, Access::kRead), std::nullopt) << "its own value";
  EXPECT_EQ(watch.note(3, 32, 4, Access::kAtomic), std::nullopt);
  EXPECT_EQ(watch.note(4, 32, 4, Access::kAtomic), std::nullopt);
  EXPECT_EQ(
      watch.note(4, 32, 4, Access::kRead),
      "race in local memory: wave 4 reads offset 32, which wave 3 wrote since the last barrier");
}

TEST(Memory, FindsTheRangeThatHoldsAnAccess) {
  Memory memory;
  std::array<std::byte, 64> bytes{};
  const auto begin = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(bytes.data()));
  memory.add(bytes.data(), 32, false);
  ASSERT_NE(memory.find(begin + 28, 4), nullptr);
  EXPECT_FALSE(memory.find(begin + 28, 4)->writable);
  EXPECT_EQ(memory.find(begin + 29, 4), nullptr);
  EXPECT_EQ(memory.find(begin - 1, 1), nullptr);
  EXPECT_EQ(memory.find(~std::uint64_t{0}, 16), nullptr);
  EXPECT_EQ(memory.size_of(bytes.data()), 32u);
  EXPECT_TRUE(memory.remove(bytes.data()));
  EXPECT_FALSE(memory.remove(bytes.data()));
  EXPECT_EQ(memory.find(begin, 4), nullptr);
}

}  // namespace
}  // namespace hone::emulator
