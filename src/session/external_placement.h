// Placement of the user's own kernels in a program: selects the operations that they replace, and
// checks the compiled program for them. The compiler silently ignores a transform spec that matches
// nothing.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "provider/external/bordered_form.h"
#include "provider/external/object_launch.h"
#include "provider/iree/extern_spec.h"
#include "provider/iree/program/launches.h"
#include "session/toolchain.h"
#include "worker/worker_pool.h"

namespace hone::session {

// An operation and the kernel that replaces it.
struct PlacedKernel {
  std::string manifest;  // its path
  std::string object;    // the file that the spec names: "misa-1a2b3c4d.hsaco"
  external::ObjectLaunch launch;
  iree::ReplaceableOperation operation;
  std::vector<external::Border> borders;    // between its tensors and the kernel's
  std::vector<std::int64_t> binding_bytes;  // in the order of the launch, as the kernel has them
};

// Sets knobs to other values than the manifests' defaults. "BM=128,BN=64" sets them in each
// manifest that has a knob of that name. Input errors: no manifest has the knob, or the knob does
// not take that value.
Status configure(std::vector<external::ExternalKernel>& kernels, const std::string& configuration);

// Selects for each product of a program the first kernel that fits it. The kernel takes in as much
// of the code behind the sums as its manifest names. If the manifest names nothing, the operands
// that the kernel reads behind the sums are added. Input errors: those of external::object_launch;
// for a kernel that fits no operation, the reason for each operation, with the manifest's line.
Result<std::vector<PlacedKernel>> placed_kernels(
    const std::vector<external::ExternalKernel>& kernels,
    const std::vector<iree::ReplaceableOperation>& operations,
    const external::ObjectDevice& device);

// Returns the dispatches from which the spec is written.
std::vector<iree::ExternDispatch> extern_dispatches(const std::vector<PlacedKernel>& placed,
                                                    const problem::GpuTarget& target);

// Checks that the program launches each kernel of `placed` once for each occurrence of its
// operation. Function, grid, block, constants, bytes of each binding and the written binding must
// match. A failure names the first difference.
Status check_launches(const std::vector<PlacedKernel>& placed,
                      const std::vector<iree::ExternLaunch>& launches);
// Checks that the compiled module holds the kernels' objects unchanged, with their block sizes and
// numbers of constants. All code in the module must also be for the architecture that the device
// runs as.
Status check_module(const std::vector<PlacedKernel>& placed, std::string_view module,
                    const external::ObjectDevice& device);

}  // namespace hone::session
