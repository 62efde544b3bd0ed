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
  explicit FakeLibrary(const std::string& source, const std::string& name = "libfake.so")
      : name_(name) {
    const auto c = (folder_.path() / "fake.c").string();
    EXPECT_TRUE(write_file_atomically(c, source));
    EXPECT_EQ(std::system(("cc -w -shared -fPIC -o " + path() + " " + c).c_str()), 0) << source;
  }
  std::string path() const { return (folder_.path() / name_).string(); }
  std::string folder() const { return folder_.path().string(); }

 private:
  std::string name_;
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
    library_.emplace(source, "libcuda.so.1");
  }
  std::string library() const {
    return library_->path();
  }
  std::string folder() const {
    return library_->folder();
  }  // for LD_LIBRARY_PATH

 private:
  std::optional<FakeLibrary> library_;
};

inline constexpr const char* kVersion13 = "(int* version) { *version = 13000; return 0; }";

// The facts of a machine with two H200s.
inline std::map<std::string, std::string> two_h200s() {
  return {
      {"cuDriverGetVersion", kVersion13},
      {"cuDeviceGetCount", "(int* count) { *count = 2; return 0; }"},
      {"cuDeviceGet", "(int* device, int i) { *device = i; return 0; }"},
      {"cuDeviceGetName",
       "(char* name, int n, int d) { __builtin_strcpy(name, \"NVIDIA H200\"); "
       "return 0; }"},
      {"cuDeviceGetUuid",
       "(unsigned char* uuid, int d) { for (int i = 0; i < 16; ++i) "
       "uuid[i] = i * 16 + d; return 0; }"},
      {"cuDeviceTotalMem_v2", "(unsigned long* bytes, int d) { *bytes = 1ul << 37; return 0; }"},
      {"cuDeviceGetAttribute",
       "(int* value, int a, int d) { *value = a == 75 ? 9 : a == 76 ? 0 : "
       "a == 16 ? 132 : a == 13 ? 1980000 : a; return 0; }"}};
}

}  // namespace hone::test
