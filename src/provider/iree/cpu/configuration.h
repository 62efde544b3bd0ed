// Configurations of the llvm-cpu space as the compiler reads them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "problem/operation.h"
#include "space/space.h"

namespace hone::iree {

// The attributes that make the compiler build one configuration, in MLIR's text (IREE 3.13).
struct LlvmCpuAttributes {
  std::string lowering_config;   // of the root operation: "#iree_cpu.lowering_config<...>"
  std::string translation_info;  // of its function: "#iree_codegen.translation_info<...>"
  // With K blocked, what the root accumulates into and what reads its result stay outside the k
  // loop and would become one vector of the whole block, which the compiler refuses when it is
  // large. These lowering_configs tile them; both are empty where K is not blocked.
  std::string init_config;      // of the operation that defines the root's output operand (a fill)
  std::string consumer_config;  // of the structured operations that read the root's result
  // Attributes::interchange.
  std::vector<int> interchange = {};

  bool operator==(const LlvmCpuAttributes&) const = default;
};

// The attributes of `configuration`, which is of the space of `operation`
// (llvm_cpu_contraction_space). Errors: those of contraction_loops; an input error when the space
// lacks one of the operation's knobs.
Result<LlvmCpuAttributes> llvm_cpu_attributes(const problem::Operation& operation,
                                              const space::Space& space,
                                              const space::Configuration& configuration);

}  // namespace hone::iree
