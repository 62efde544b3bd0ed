// Libraries that this machine has not, made by the C compiler: what hone says of a machine where
// they are missing, old or different is tested with them.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <optional>
#include <string>

#include "base/file.h"
#include "device/cuda/driver_api.h"

namespace hone::test {

class FakeLibrary {
 public:
  explicit FakeLibrary(const std::string& source) {
    const auto c = (folder_.path() / "fake.c").string();
    EXPECT_TRUE(write_file_atomically(c, source));
    EXPECT_EQ(std::system(("cc -w -shared -fPIC -o " + path() + " " + c).c_str()), 0) << source;
  }
  std::string path() const { return (folder_.path() / "libfake.so").string(); }

 private:
  TemporaryFolder folder_ = std::move(TemporaryFolder::create("hone-fake-").value());
};

// A library with the driver's functions, each of which returns 0 at once unless `bodies` gives it
// parameters and a body; an empty one leaves the function out.
class FakeDriver {
 public:
  explicit FakeDriver(const std::map<std::string, std::string>& bodies) {
    std::string source;
    const auto add = [&](const std::string& symbol) {
      const auto given = bodies.find(symbol);
      if (given == bodies.end())
        source += "int " + symbol + "() { return 0; }\n";
      else if (!given->second.empty())
        source += "int " + symbol + given->second + "\n";
    };
#define HONE_CUDA_ADD(member, symbol, parameters) add(symbol);
    HONE_CUDA_CALLS(HONE_CUDA_ADD)
#undef HONE_CUDA_ADD
    library_.emplace(source);
  }
  std::string library() const {
    return library_->path();
  }

 private:
  std::optional<FakeLibrary> library_;
};

}  // namespace hone::test
