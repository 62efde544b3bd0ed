// How a kernel is launched in the place of an operation. Machine code cannot be given other
// parameters, so its launch has those that it was made with; PTX is given the operation's
// (ptx_entry.h).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "problem/launch.h"
#include "provider/external/dispatch_form.h"

namespace hone::external {

// What it is to run on.
struct ObjectDevice {
  std::string target;   // that programs are compiled for: "gfx942"
  std::string runs_as;  // what the driver takes the device for (problem::target_under_override)
  std::int64_t shared_bytes = 0;  // that a workgroup may have
};

// Its arguments are addresses of 8 bytes, and behind them words of 4 bytes, as HIP and CUDA pass
// them for IREE.
struct ObjectLaunch {
  // Machine code is as it is. PTX has the numbers among its arguments in it, and a name of its own,
  // since other numbers are other code.
  std::string function, code;
  std::string_view format;  // "hsaco", "cubin", "ptx"
  problem::Launch launch;   // grid, block, dynamic shared memory, constants
  // In the order of the arguments: the operand, and which binding of the form it is.
  std::vector<std::string> operands;
  std::vector<int> bindings;
  std::vector<std::string> constants;  // what each constant is, in the manifest's words
  bool zeroed = false;                 // the result must be zero before the launch
  int subgroup_size = 0;               // 0: the object does not say it

  // Of all arguments together.
  std::int64_t argument_bytes() const {
    return static_cast<std::int64_t>(8 * operands.size() + 4 * constants.size());
  }
};

// Whether the manifest's hard constraints hold for an operation of that form, with the knobs'
// defaults: an input error with the manifest's path, the line and the reason of one that does not.
Status check_constraints(const ExternalKernel& kernel, const DispatchForm& form,
                         const ObjectDevice& device);

// `form`: of an operation whose operands begin where bindings do. Knobs have their defaults. Input
// errors that begin with the manifest's path and a line: an object that is none, or for another
// device, a function that it does not have, an address behind a number, a number that has
// no 32 bits, a block, shared memory or arguments other than the object's own metadata says (AMD's;
// a cubin's does not say them in a way that is documented).
Result<ObjectLaunch> object_launch(const ExternalKernel& kernel, const DispatchForm& form,
                                   const ObjectDevice& device);

}  // namespace hone::external
