// Libraries that this machine has not, made by the C compiler: what hone says of a machine where
// they are missing, old or different is tested with them.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "base/file.h"

namespace hone::test {

class FakeLibrary {
 public:
  explicit FakeLibrary(const std::string& source, std::string name = "libfake.so")
      : name_(std::move(name)) {
    const auto c = (folder_.path() / "fake.c").string();
    EXPECT_TRUE(write_file_atomically(c, source));
    EXPECT_EQ(std::system(("${CC:-cc} -w -shared -fPIC -o " + path() + " " + c).c_str()), 0) << source;
  }
  std::string path() const { return (folder_.path() / name_).string(); }
  std::string folder() const { return folder_.path().string(); }  // for LD_LIBRARY_PATH

 private:
  std::string name_;
  TemporaryFolder folder_ = std::move(TemporaryFolder::create("hone-fake-").value());
};

}  // namespace hone::test
