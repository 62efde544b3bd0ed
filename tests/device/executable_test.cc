#include "device/cpu/executable.h"

#include <gmock/gmock.h>

#include <cstring>

#include "tests/device/kernel_library.h"

namespace hone::device::cpu {
namespace {

using test::kernel_library;
using testing::HasSubstr;

std::string error_of(std::string_view code) {
  const auto executable = Executable::load(code);
  return executable ? "no error" : executable.error().message;
}

TEST(ExecutableTest, StatesWhatTheExportTableSays) {
  const auto executable =
      Executable::load(kernel_library("", {.local_pages = 3, .constants = 2, .bindings = 4}));
  ASSERT_TRUE(executable) << executable.error().message;
  ASSERT_EQ(executable->exports().size(), 1u);
  const Export& entry = executable->exports()[0];
  EXPECT_EQ(entry.name, "kernel");
  EXPECT_EQ(entry.bindings, 4);
  EXPECT_EQ(entry.constants, 2);
  EXPECT_EQ(entry.local_memory_bytes, 3u * 4096u);
  EXPECT_TRUE(executable->find("kernel", 0));
  EXPECT_TRUE(executable->find("", 0));
}

TEST(ExecutableTest, NamesTheExportsWhenTheOneAskedForIsMissing) {
  const auto executable = Executable::load(kernel_library(""));
  ASSERT_TRUE(executable);
  EXPECT_THAT(executable->find("matmul", 0).error().message, HasSubstr("it exports kernel"));
  EXPECT_FALSE(executable->find("", 1));
}

TEST(ExecutableTest, RefusesBytesThatAreNoElfFile) {
  EXPECT_THAT(error_of(""), HasSubstr("not an ELF file"));
  EXPECT_THAT(error_of(std::string(10000, 'x')), HasSubstr("not an ELF file"));
}

TEST(ExecutableTest, RefusesAFileThatIsCutOff) {
  const std::string code = kernel_library("");
  EXPECT_THAT(error_of(std::string_view(code).substr(0, 600)), HasSubstr("cut off"));
}

TEST(ExecutableTest, RefusesAnotherProcessor) {
  std::string code = kernel_library("");
  code[18] = 40;  // e_machine: 32-bit Arm
  EXPECT_THAT(error_of(code), HasSubstr("another processor"));
}

// Whatever one damaged byte of the ELF header does, it must be an error or a library, not a crash.
TEST(ExecutableTest, SurvivesAnyDamagedByteOfTheElfHeader) {
  const std::string code = kernel_library("");
  for (std::size_t i = 0; i < 64; ++i) {
    std::string damaged = code;
    damaged[i] = static_cast<char>(~damaged[i]);
    (void)Executable::load(damaged);
  }
}

TEST(ExecutableTest, RefusesAnotherInterfaceVersion) {
  EXPECT_THAT(error_of(kernel_library("", {.version = 5})), HasSubstr("interface version"));
}

TEST(ExecutableTest, RefusesImportsUnlessTheyAreOptional) {
  EXPECT_THAT(error_of(kernel_library("", {.imports = "\"iree_uk_mmt4d\","})),
              HasSubstr("imports 'iree_uk_mmt4d'"));
  EXPECT_TRUE(Executable::load(kernel_library("", {.imports = "\"iree_uk_mmt4d?\","})));
}

TEST(ExecutableTest, RefusesExecutableConstants) {
  EXPECT_THAT(error_of(kernel_library("", {.executable_constants = 2})),
              HasSubstr("2 executable-level constants"));
}

TEST(ExecutableTest, TwoLibrariesLoadedAtOnceAreTwo) {
  const auto one = Executable::load(kernel_library("return 1;"));
  const auto two = Executable::load(kernel_library("return 2;"));
  ASSERT_TRUE(one && two);
  EXPECT_EQ(one->function(0)(nullptr, nullptr, nullptr), 1);
  EXPECT_EQ(two->function(0)(nullptr, nullptr, nullptr), 2);
}

TEST(ExecutableTest, ALibraryLoadedAfterAnotherIsGoneIsItself) {
  for (int i = 1; i < 6; ++i) {
    const auto library = Executable::load(kernel_library(fmt::format("return {};", i)));
    ASSERT_TRUE(library);
    EXPECT_EQ(library->function(0)(nullptr, nullptr, nullptr), i);
  }
}

#if defined(__x86_64__)
// Bits of IREE's cpu_feature_bits.inl.
TEST(ProcessorDataTest, AgreesWithTheCompilersBuiltIn) {
  const std::uint64_t word = processor_data()[0];
  EXPECT_EQ(word >> 0 & 1, __builtin_cpu_supports("sse3") ? 1u : 0u);
  EXPECT_EQ(word >> 10 & 1, __builtin_cpu_supports("avx") ? 1u : 0u);
  EXPECT_EQ(word >> 11 & 1, __builtin_cpu_supports("fma") ? 1u : 0u);
  EXPECT_EQ(word >> 15 & 1, __builtin_cpu_supports("avx2") ? 1u : 0u);
  EXPECT_EQ(word >> 20 & 1, __builtin_cpu_supports("avx512f") ? 1u : 0u);
  EXPECT_EQ(word >> 22 & 1, __builtin_cpu_supports("avx512vl") ? 1u : 0u);
  EXPECT_EQ(word >> 28 & 1, __builtin_cpu_supports("avx512vnni") ? 1u : 0u);
}
#endif

}  // namespace
}  // namespace hone::device::cpu
