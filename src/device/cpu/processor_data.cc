#include "device/cpu/executable.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace hone::device::cpu {
namespace {

#if defined(__x86_64__)
struct Registers {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
};

// All zero for a leaf the processor does not have.
Registers cpuid(unsigned leaf, unsigned subleaf) {
  if (static_cast<unsigned>(__get_cpuid_max(leaf & 0x80000000u, nullptr)) < leaf) return {};
  Registers registers;
  if (subleaf > 0) {
    __cpuid_count(leaf, 0, registers.eax, registers.ebx, registers.ecx, registers.edx);
    if (registers.eax < subleaf) return {};
  }
  __cpuid_count(leaf, subleaf, registers.eax, registers.ebx, registers.ecx, registers.edx);
  return registers;
}

// Bit numbers in IREE's word (iree-org/iree, runtime/src/iree/schemas/cpu_feature_bits.inl) and
// where cpuid tells them (runtime/src/iree/base/internal/cpu.c), both at b48a595.
std::uint64_t x86_64_features() {
  const Registers leaf1 = cpuid(1, 0), leaf7 = cpuid(7, 0), leaf7_1 = cpuid(7, 1);
  const Registers state = cpuid(0xD, 0), extended = cpuid(0x80000001u, 0);
  std::uint64_t word = 0;
  auto copy = [&word](int to, unsigned source, int from) {
    word |= static_cast<std::uint64_t>(source >> from & 1) << to;
  };
  copy(0, leaf1.ecx, 0);           // SSE3
  copy(1, leaf1.ecx, 9);           // SSSE3
  copy(2, leaf1.ecx, 19);          // SSE4.1
  copy(3, leaf1.ecx, 20);          // SSE4.2
  copy(4, extended.ecx, 6);        // SSE4A
  if ((state.eax & 0x7) == 0x7) {  // the system saves YMM registers
    copy(10, leaf1.ecx, 28);       // AVX
    copy(11, leaf1.ecx, 12);       // FMA
    copy(12, extended.ecx, 16);    // FMA4
    copy(13, extended.ecx, 11);    // XOP
    copy(14, leaf1.ecx, 29);       // F16C
    copy(15, leaf7.ebx, 5);        // AVX2
  }
  if ((state.eax & 0xE7) == 0xE7) {  // and ZMM registers
    copy(20, leaf7.ebx, 16);         // AVX512F
    copy(21, leaf7.ebx, 28);         // AVX512CD
    copy(22, leaf7.ebx, 31);         // AVX512VL
    copy(23, leaf7.ebx, 17);         // AVX512DQ
    copy(24, leaf7.ebx, 30);         // AVX512BW
    copy(25, leaf7.ebx, 21);         // AVX512IFMA
    copy(26, leaf7.ecx, 1);          // AVX512VBMI
    copy(27, leaf7.ecx, 14);         // AVX512VPOPCNTDQ
    copy(28, leaf7.ecx, 11);         // AVX512VNNI
    copy(29, leaf7.ecx, 6);          // AVX512VBMI2
    copy(30, leaf7.ecx, 12);         // AVX512BITALG
    copy(31, leaf7_1.eax, 5);        // AVX512BF16
    copy(32, leaf7.edx, 23);         // AVX512FP16
  }
  if ((state.eax & 0x60000) == 0x60000) {  // and AMX tiles
    copy(50, leaf7.edx, 24);               // AMX-TILE
    copy(51, leaf7.edx, 25);               // AMX-INT8
    copy(52, leaf7.edx, 22);               // AMX-BF16
  }
  return word;
}
#endif

}  // namespace

std::array<std::uint64_t, 8> processor_data() {
  std::array<std::uint64_t, 8> data{};
#if defined(__x86_64__)
  data[0] = x86_64_features();
#endif
  return data;
}

}  // namespace hone::device::cpu
