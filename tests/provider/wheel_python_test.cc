#include <gmock/gmock.h>

#include "base/file.h"
#include "provider/iree/compiler/library.h"

namespace hone::iree {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(WheelPython, IsTheEnvironmentsOwn) {
  const auto folder = TemporaryFolder::create("hone-test-").value();
  const auto packages = folder.path() / "lib" / "python3.11" / "site-packages";
  const auto python = folder.path() / "bin" / "python3";
  std::filesystem::create_directories(packages);
  std::filesystem::create_directories(python.parent_path());
  ASSERT_TRUE(write_file_atomically(python, ""));
  const Command command = python_of(packages, {"-c", "0"});
  EXPECT_THAT(command.arguments, ElementsAre(python.string(), "-c", "0"));
  EXPECT_THAT(command.environment, IsEmpty());
}

// As where wheels were unpacked into a folder below /: the system's /bin/python3 is not theirs.
TEST(WheelPython, IsThatOfThePathForABareFolder) {
  const auto folder = TemporaryFolder::create("hone-test-").value();
  const auto packages = folder.path() / "a" / "b" / "packages";
  std::filesystem::create_directories(packages);
  std::filesystem::create_directories(folder.path() / "bin");
  ASSERT_TRUE(write_file_atomically(folder.path() / "bin" / "python3", ""));
  const Command command = python_of(packages, {});
  EXPECT_THAT(command.arguments, ElementsAre("python3"));
  EXPECT_THAT(command.environment, ElementsAre(Pair("PYTHONPATH", packages.string())));
}

}  // namespace
}  // namespace hone::iree
