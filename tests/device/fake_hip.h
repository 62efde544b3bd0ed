// A library in the place of AMD's HIP runtime, for what hone says where there is none, an old one,
// a partition, or another GPU than was asked for. It runs no kernel.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "device/hip/driver.h"
#include "tests/device/fake_driver.h"

namespace hone::test {

class FakeHip {
 public:
  explicit FakeHip(const std::map<std::string, std::string>& bodies,
                   const std::string& file = "libamdhip64.so.7")
      : library_(source(bodies), file) {}
  std::string library() const { return library_.path(); }
  std::string folder() const { return library_.folder(); }

 private:
  static std::string source(const std::map<std::string, std::string>& bodies) {
    std::vector<std::string> symbols{"hipGetDevicePropertiesR0600", "hipGetDeviceProperties"};
#define HONE_HIP_ADD(member, symbol) symbols.emplace_back(symbol);
    HONE_HIP_CALLS(HONE_HIP_ADD)
#undef HONE_HIP_ADD
    return stub_source(symbols, bodies) +
           "const char* hipGetErrorName(int code) { return code == 100 ? \"hipErrorNoDevice\" : "
           "code == 700 ? \"hipErrorIllegalAddress\" : \"hipErrorUnknown\"; }\n"
           "const char* hipGetErrorString(int code) { return code == 700 ? "
           "\"an illegal memory access was encountered\" : \"unknown error\"; }\n";
  }

  FakeLibrary library_;
};

// The facts of a machine with one MI300X under HIP 7.2, in one partition.
inline std::map<std::string, std::string> one_mi300x() {
  return {
      {"hipDriverGetVersion", "(int* version) { *version = 70253211; return 0; }"},
      {"hipGetDeviceCount", "(int* count) { *count = 1; return 0; }"},
      {"hipDeviceGet", "(int* device, int i) { *device = i; return 0; }"},
      {"hipDeviceGetName",
       "(char* name, int n, int d) { __builtin_strcpy(name, \"AMD Instinct MI300X\"); return 0; }"},
      {"hipDeviceGetUuid",
       "(char* uuid, int d) { __builtin_memcpy(uuid, \"1a2b3c4d5e6f7081\", 16); return 0; }"},
      {"hipDeviceGetPCIBusId",
       "(char* id, int n, int d) { __builtin_strcpy(id, \"0000:05:00.0\"); return 0; }"},
      {"hipDeviceTotalMem", "(unsigned long* bytes, int d) { *bytes = 192ul << 30; return 0; }"},
      {"hipDeviceGetAttribute",
       "(int* value, int a, int d) { *value = a == 63 ? 304 : a == 87 ? 64 : a == 19 ? 4 << 20 : "
       "a == 74 ? 65536 : a == 5 ? 2100000 : a == 10018 ? 8 : 0; return 0; }"},
      {"hipGetDevicePropertiesR0600",
       "(char* p, int d) { __builtin_strcpy(p + 1160, \"gfx942:sramecc+:xnack-\"); return 0; }"}};
}

}  // namespace hone::test
