#include "provider/iree/compiler/library.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <thread>

#include "provider/iree/compiler/compiler_session.h"
#include "provider/iree/program/program.h"
#include "tests/provider_iree/compiler.h"

namespace hone::iree {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// A folder laid out like a virtual environment with IREE of the given version in it.
std::string fake_environment(const TemporaryFolder& folder, const std::string& version) {
  const auto iree = folder.path() / "lib/python3.11/site-packages/iree/compiler";
  EXPECT_TRUE(write_file_atomically(iree / "version.py", "VERSION = \"" + version + "\"\n"));
  EXPECT_TRUE(write_file_atomically(iree / "_mlir_libs/libIREECompiler.so", "no library"));
  return folder.path().string();
}

TEST(FindInstallation, FindsTheNativeTools) {
  const Installation installation = compiler().installation();
  for (const auto& tool :
       {installation.iree_compile, installation.iree_lld, installation.benchmark_module,
        installation.benchmark_executable, installation.run_module})
    EXPECT_EQ(read_file(tool).value().substr(0, 4),
              "\x7f"
              "ELF")
        << tool;
  EXPECT_THAT(installation.version, HasSubstr("."));
}

TEST(FindInstallation, SaysHowToGetAnEnvironmentThatIsNotThere) {
  const auto found = find_installation("/nowhere/at/all");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().kind, ErrorKind::kEnvironment);
  EXPECT_THAT(
      found.error().message,
      AllOf(HasSubstr("/nowhere/at/all"), HasSubstr("libIREECompiler.so"),
            HasSubstr("pip install iree-base-compiler==3.13.0"), HasSubstr("./scripts/setup")));
}

TEST(FindInstallation, RefusesACompilerThatIsTooOld) {
  const auto folder = TemporaryFolder::create("hone-test-");
  ASSERT_TRUE(folder);
  const auto found = find_installation(fake_environment(*folder, "3.9.0rc20251021"));
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().kind, ErrorKind::kEnvironment);
  EXPECT_THAT(found.error().message, AllOf(HasSubstr("3.9.0rc20251021"), HasSubstr("3.13")));
}

TEST(FindInstallation, TakesAnEnvironmentASitePackagesFolderOrTheLibraryItself) {
  const auto folder = TemporaryFolder::create("hone-test-");
  ASSERT_TRUE(folder);
  const std::string environment = fake_environment(*folder, "3.13.0");
  const std::string packages = environment + "/lib/python3.11/site-packages";
  const std::string library = packages + "/iree/compiler/_mlir_libs/libIREECompiler.so";
  for (const std::string& place : {environment, packages, library}) {
    const auto found = find_installation(place);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(found->compiler_library, library);
    EXPECT_EQ(found->version, "3.13.0");
    EXPECT_TRUE(found->run_module.empty());  // no runtime wheel beside it
  }
}

TEST(CompilerLibrary, SaysWhatIsWrongWithAFileThatIsNoLibrary) {
  const auto folder = TemporaryFolder::create("hone-test-");
  ASSERT_TRUE(folder);
  const auto found = find_installation(fake_environment(*folder, "3.13.0"));
  ASSERT_TRUE(found);
  const auto library = CompilerLibrary::open(*found);
  ASSERT_FALSE(library);
  EXPECT_EQ(library.error().kind, ErrorKind::kEnvironment);
  EXPECT_THAT(library.error().message, HasSubstr("cannot open"));
}

TEST(CompilerLibrary, NamesTheCompiler) {
  EXPECT_THAT(compiler().revision(), HasSubstr(compiler().installation().version));
}

// A process that forks keeps to one thread, and a spec is read by one: with several the compiler of
// IREE 3.13 waits for itself.
TEST(CompilerSession, HasThreadsWhereTheyAreAllowedAndNoSpecIsRead) {
  const auto threads_of = [](const CompilerLibrary& library, const std::vector<std::string>& flags,
                             Threads threads) {
    const auto session = CompilerSession::create(library, flags, threads);
    EXPECT_TRUE(session) << session.error().message;
    return library.api().mlirContextGetNumThreads(session->context());
  };
  CompilerLibrary allowed = compiler();
  allowed.allow_threads();
  const std::vector<std::string> plain = host_cpu_flags();
  EXPECT_EQ(threads_of(compiler(), plain, Threads::kAll), 1u);
  EXPECT_EQ(threads_of(allowed, plain, Threads::kOne), 1u);
  if (std::thread::hardware_concurrency() > 1) {
    EXPECT_GT(threads_of(allowed, plain, Threads::kAll), 1u);
  }
  for (const char* const flag : {"--iree-codegen-tuning-spec-path=a.mlir",
                                 "--iree-preprocessing-transform-spec-filename=a"}) {
    std::vector<std::string> flags = plain;
    flags.emplace_back(flag);
    EXPECT_EQ(threads_of(allowed, flags, Threads::kAll), 1u) << flag;
  }
}

}  // namespace
}  // namespace hone::iree
