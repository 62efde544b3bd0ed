// Plain facts of what code is compiled for. Filled by a device from the machine, or by hand in
// tests; nothing here asks the machine.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace hone::problem {

struct CpuTarget {
  std::string cpu;                      // model as the operating system names it
  std::vector<std::string> features;    // as /proc/cpuinfo spells them
  int vector_bits = 128;                // widest vector register: 512 with AVX-512, 256 with AVX2
  int vector_registers = 16;            // architectural: 32 with AVX-512, else 16
  std::int64_t l1d_bytes = 32 * 1024;   // of one core
  std::int64_t l2_bytes = 1024 * 1024;  // of one core
  std::int64_t l3_bytes = 0;            // shared by all; 0 where there is none
  int cores = 1;                        // this process may run on
};

void to_json(nlohmann::json& json, const CpuTarget& target);
void from_json(const nlohmann::json& json, CpuTarget& target);

}  // namespace hone::problem
