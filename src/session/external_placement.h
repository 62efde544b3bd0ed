// Which operations of a program are replaced by kernels of the user's own, and the proof that they
// are: the compiler takes a transform spec that matches nothing without a word.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "provider/external/bordered_form.h"
#include "provider/external/object_launch.h"
#include "provider/iree/extern_spec.h"
#include "provider/iree/program/extern_launches.h"
#include "session/toolchain.h"
#include "worker/worker_pool.h"

namespace hone::session {

// One operation and the kernel for it.
struct PlacedKernel {
  std::string manifest;  // its path
  std::string object;    // the file that the spec names: "misa-1a2b3c4d.hsaco"
  external::ObjectLaunch launch;
  iree::ReplaceableOperation operation;
  std::vector<external::Border> borders;    // between its tensors and the kernel's
  std::vector<std::int64_t> binding_bytes;  // in the order of the launch, as the kernel has them
};

// Gives knobs other values than the manifests' defaults: "BM=128,BN=64", in each manifest that has
// a knob of that name. Input errors: no manifest has it, or not with that value.
Status configure(std::vector<external::ExternalKernel>& kernels, const std::string& configuration);

// For each product of a program the first kernel that is for it, with as much of what is computed
// behind the sums as the kernel's manifest says; where that says nothing, the sums of what it
// reads. Input errors: those of external::object_launch; for a kernel that is for no operation, why
// it is not for each, with the manifest's line.
Result<std::vector<PlacedKernel>> placed_kernels(
    const std::vector<external::ExternalKernel>& kernels,
    const std::vector<iree::ReplaceableOperation>& operations,
    const external::ObjectDevice& device);

// What the spec that places them is written of.
std::vector<iree::ExternDispatch> extern_dispatches(const std::vector<PlacedKernel>& placed,
                                                    const problem::GpuTarget& target);

// That the program's launches are those of `placed`, each as often as the program has the
// operation: function, grid, block, constants, bytes of each binding, and which of them is written.
// A failure that names what differs.
Status check_launches(const std::vector<PlacedKernel>& placed,
                      const std::vector<iree::ExternLaunch>& launches);
// That the compiled module holds their objects as they are, and that all code in it is for what the
// device runs as.
Status check_module(const std::vector<PlacedKernel>& placed, std::string_view module,
                    const external::ObjectDevice& device);

}  // namespace hone::session
