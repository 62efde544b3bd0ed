// How a program launches its kernels.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "provider/iree/compiler/ir.h"
#include "provider/iree/compiler/sizes.h"
#include "provider/iree/program/call_graph.h"

namespace hone::iree {

// The values that a program passes to a kernel launch beside its buffers.
struct LaunchValues {
  std::vector<std::int64_t> workload;     // the numbers of workgroups follow from it (sizes.h)
  std::vector<std::uint32_t> constants;   // 32-bit words that the kernel reads
  std::vector<std::size_t> unknown = {};  // of constants, those known only at run time: 0 there

  bool operator==(const LaunchValues&) const = default;
};

// The launches of one export in a program at executable-sources.
struct Launches {
  struct Different {
    LaunchValues values;
    CountByFunction in_functions;  // those in initializers run once and do not count
  };
  std::vector<Different> different;  // in the program's order
  bool known = true;                 // that of each workload is
  // The function argument that each binding is, from its first byte on, in every launch of a
  // function; -1 if there is none or launches differ. Empty if no launch is known.
  std::vector<int> arguments;
};

// Values of operand segment `index` of an operation with `operandSegmentSizes`; none where it has
// no such segment.
std::vector<MlirValue> operand_segment(const Ir& ir, MlirOperation operation, std::size_t index);

// "executable::export" of a reference to an export.
std::string entry_point(const Ir& ir, MlirAttribute symbol);

// Finds the launches of each export, by entry_point(). Reads stream.cmd.dispatch (programs) and
// hal.command_buffer.dispatch (benchmark files). `sizes`: known integers of the program.
std::map<std::string, Launches> find_launches(const Ir& ir, const OwnedModule& program,
                                              const Sizes& sizes);

}  // namespace hone::iree
