#include "base/file.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/hash.h"

namespace hone {
namespace {

namespace fs = std::filesystem;

TEST(File, WhatIsWrittenIsRead) {
  const auto folder = TemporaryFolder::create("hone-file-test-");
  ASSERT_TRUE(folder);
  const fs::path path = folder->path() / "new" / "folder" / "spec.mlir";
  const std::string bytes("module {}\0tail", 14);
  ASSERT_TRUE(write_file_atomically(path, bytes));
  EXPECT_EQ(read_file(path).value(), bytes);
  ASSERT_TRUE(write_file_atomically(path, "second"));
  EXPECT_EQ(read_file(path).value(), "second");
  // Nothing but the file itself is left behind.
  EXPECT_EQ(std::distance(fs::directory_iterator(path.parent_path()), fs::directory_iterator()), 1);
}

TEST(File, AMissingFileIsNamedWithTheReason) {
  const auto missing = read_file("/no/such/program.mlir");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::kInput);
  EXPECT_EQ(missing.error().message,
            "cannot read '/no/such/program.mlir': No such file or directory");
  EXPECT_EQ(read_file("/tmp").error().message, "cannot read '/tmp': it is a folder");
}

// As a file of /proc whose process ends while it is read.
TEST(File, AFileThatCannotBeReadToItsEndIsAnErrorAndNoException) {
  const auto text = read_file("/proc/self/mem");
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().message, "cannot read '/proc/self/mem': Input/output error");
}

TEST(File, AnImpossibleTargetIsAnEnvironmentError) {
  const Status status = write_file_atomically("/proc/hone/x", "x");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, ErrorKind::kEnvironment);
}

TEST(TemporaryFolder, IsRemovedWithItsContentAndNotTwice) {
  fs::path path;
  {
    auto folder = TemporaryFolder::create("hone-file-test-");
    ASSERT_TRUE(folder);
    path = folder->path();
    std::ofstream(path / "object.o") << "x";
    TemporaryFolder moved = std::move(*folder);
    EXPECT_TRUE(fs::exists(path));
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(ContentHash, IsXxh3Of128Bits) {
  // XXH3-128 of the empty input with seed 0, as the xxHash specification gives it.
  EXPECT_EQ(content_hash(""), "99aa06d3014798d86001c324468d497f");
  EXPECT_NE(content_hash("a"), content_hash("b"));
}

}  // namespace
}  // namespace hone
