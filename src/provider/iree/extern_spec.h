// A transform spec that calls external kernels for operations of an unmodified program, before the
// compiler forms dispatches (IREE 3.13).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "problem/launch.h"
#include "problem/target.h"
#include "provider/iree/program/replaceable_operations.h"

namespace hone::iree {

// A tensor of the operation that the kernel expects in another form. The compiler's own code in the
// program transposes and converts it.
struct ExternBorder {
  int binding = 0;
  std::string kernel_type;  // "tensor<1280x3x3x1280xf16>"
  // The dimension of the program's tensor for each dimension of the kernel's. Empty if the tensor
  // is only converted.
  std::vector<int> permutation;
};

// A kernel that replaces one operation. Its arguments are the addresses of the bindings, followed
// by the launch's constants, as IREE's HIP and CUDA drivers pass them.
struct ExternDispatch {
  ReplaceableOperation operation;
  std::string comment;     // one line
  std::string function;    // in the object
  std::string object;      // its file, in a folder of --iree-hal-executable-object-search-path
  problem::Launch launch;  // grid, block, dynamic shared memory, constants
  // In the kernel's order: 0 lhs, 1 rhs, 2 the result, then the others; -1 scratch memory.
  std::vector<int> bindings;
  std::vector<ExternBorder> borders;
  bool zeroed = false;             // the result is zero before the launch
  std::int64_t scratch_bytes = 0;  // so is this memory, if any
  int subgroup_size = 0;
};

// The text of the spec (replacing_spec).
std::string extern_spec_text(const std::vector<ExternDispatch>& dispatches,
                             problem::GpuBackend backend);

// A spec with the same matchers that keeps the operations, with operands and results rounded to the
// kernels' types. It shows the effect of the conversions alone.
std::string converted_spec_text(const std::vector<ExternDispatch>& dispatches);
// A module whose one function launches the kernel alone. Operands have the kernel's layout, and the
// result is not zeroed. Compile it with the second of extern_spec_flags().
std::string kernel_program_text(const ExternDispatch& dispatch, problem::GpuBackend backend);

// The flags that apply the spec; the objects must be in the spec's own folder.
std::vector<std::string> extern_spec_flags(const std::string& spec, const std::string& folder);

}  // namespace hone::iree
