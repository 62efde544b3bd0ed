// Features of a CPU that compiled code depends on, to tell whether code from another machine runs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "problem/target.h"

namespace hone::device::cpu {

// Returns the features, as /proc/cpuinfo spells them, that code compiled for the CPU `name` may
// use. Names are "host", which is `host`, LLVM's x86-64 levels: "generic", "x86-64", "x86-64-v2",
// "x86-64-v3", "x86-64-v4" (x86-64 psABI, section 3.1.1), and "aarch64". nullopt for any other CPU.
std::optional<std::vector<std::string>> code_features(std::string_view name,
                                                      const problem::CpuTarget& host);

// Whether the CPU is a 64-bit Arm.
bool is_arm(const problem::CpuTarget& cpu);
// Returns the oldest CPU whose code runs on each that is like this one: "aarch64" or "x86-64".
std::string baseline(const problem::CpuTarget& cpu);
// Returns the level whose instructions the CPU all has: "aarch64", "x86-64-v4" with AVX-512,
// "x86-64-v3" with AVX2, else the baseline.
std::string architecture_level(const problem::CpuTarget& cpu);

// Whether code for the CPU `name` is for another processor architecture than the CPU's.
bool is_foreign(std::string_view name, const problem::CpuTarget& cpu);
// Returns those of `needed` that the CPU lacks.
std::vector<std::string> missing_features(const std::vector<std::string>& needed,
                                          const problem::CpuTarget& cpu);

}  // namespace hone::device::cpu
