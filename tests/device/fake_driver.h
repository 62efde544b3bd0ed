// A library in the place of NVIDIA's driver, for what hone says where there is none, an old one, or
// other devices than were asked for. It runs no kernel.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "device/cuda/driver.h"
#include "tests/device/fake_library.h"

namespace hone::test {

// The source of a library with these functions, each of which returns 0 at once unless `bodies`
// gives it parameters and a body; an empty one leaves the function out.
inline std::string stub_source(const std::vector<std::string>& symbols,
                             const std::map<std::string, std::string>& bodies) {
  std::string source;
  for (const std::string& symbol : symbols) {
    const auto given = bodies.find(symbol);
    if (given == bodies.end())
      source += "int " + symbol + "() { return 0; }\n";
    else if (!given->second.empty())
      source += "int " + symbol + given->second + "\n";
  }
  return source;
}

class FakeDriver {
 public:
  explicit FakeDriver(const std::map<std::string, std::string>& bodies)
      : library_(stub_source(symbols(), bodies), "libcuda.so.1") {}
  std::string library() const { return library_.path(); }
  std::string folder() const { return library_.folder(); }

 private:
  static std::vector<std::string> symbols() {
    std::vector<std::string> symbols{"cuGetErrorName", "cuGetErrorString"};
#define HONE_CUDA_ADD(member, symbol) symbols.emplace_back(symbol);
    HONE_CUDA_CALLS(HONE_CUDA_ADD)
#undef HONE_CUDA_ADD
    return symbols;
  }

  FakeLibrary library_;
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
