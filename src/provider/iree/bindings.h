// The buffers of a dispatch and how the program launches it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "problem/dispatch.h"
#include "provider/iree/ir.h"
#include "provider/iree/sizes.h"

namespace hone::iree {

// The launches of one export in a program at executable-sources.
struct Launches {
  int per_call = 0;                 // in functions; those in initializers run once and do not count
  std::vector<std::int64_t> bytes;  // of each binding, the largest of all launches; -1: not static
  std::vector<std::uint32_t> constants;
  std::vector<std::int64_t> workload;  // what the numbers of workgroups follow from
  std::string not_static;              // why the constants are not known; empty when they are
};

// By "executable::export". Reads stream.cmd.dispatch (programs) and hal.command_buffer.dispatch
// (benchmark files). `sizes`: what is known of the program's integers.
std::map<std::string, Launches> find_launches(const Ir& ir, const OwnedModule& program,
                                              const Sizes& sizes);

// Bindings in ordinal order, from hal.interface.binding.subspan in the kernel. A binding that the
// root operation's operands are traced back to is a root input. `kernel`: what is known of the
// kernel's integers. Input error for a type hone does not know.
Result<std::vector<problem::Binding>> describe_bindings(const Ir& ir, MlirOperation function,
                                                        MlirOperation root,
                                                        const Launches& launches,
                                                        const Sizes& kernel);

// By operand of the root operation: the ordinal of the binding whose whole content it is (or, for
// an output, becomes), -1 where anything but a reshape lies between
// (problem::Dispatch::root_bindings).
std::vector<int> root_bindings(const Ir& ir, MlirOperation function, MlirOperation root,
                               const Sizes& kernel);

}  // namespace hone::iree
