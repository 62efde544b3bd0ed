// A transform spec that calls kernels of others for operations of an unmodified program, before the
// compiler forms dispatches (IREE 3.13).
#pragma once

#include <string>
#include <vector>

#include "problem/launch.h"
#include "problem/target.h"
#include "provider/iree/program/replaceable_operations.h"

namespace hone::iree {

// A tensor of the operation that the kernel has otherwise: it is transposed and converted on its
// way, in the program and by the compiler's own code.
struct ExternBorder {
  int binding = 0;
  std::string kernel_type;  // "tensor<1280x3x3x1280xf16>"
  // By dimension of that: which one of the program's tensor it is. Empty where it is only
  // converted.
  std::vector<int> permutation;
};

// A kernel in the place of one operation. Its arguments are the addresses of the bindings and
// behind them the launch's constants, as IREE's HIP and CUDA drivers pass them.
struct ExternDispatch {
  ReplaceableOperation operation;
  std::string comment;        // one line
  std::string function;       // in the object
  std::string object;         // its file, in a folder of --iree-hal-executable-object-search-path
  problem::Launch launch;     // grid, block, dynamic shared memory, constants
  std::vector<int> bindings;  // in the kernel's order: 0 lhs, 1 rhs, 2 the result, then the others
  std::vector<ExternBorder> borders;
  bool zeroed = false;  // the result is zero before the launch
  int subgroup_size = 0;
};

// The text of the spec: each entry's operations are replaced wherever they are in the program. The
// calls are inlined at once: what is left a call until dispatches are formed has its operands
// copied before each launch (seen on 3.13: 35 MB for the convolution of docs/external-kernels.md).
std::string extern_spec_text(const std::vector<ExternDispatch>& dispatches,
                             problem::GpuBackend backend);

// A spec that matches the same and puts the operations themselves there, their operands and results
// rounded to the types that the kernels have: what the conversions alone change.
std::string converted_spec_text(const std::vector<ExternDispatch>& dispatches);
// A module whose one function launches the kernel alone: operands lie as it has them, and the
// result is not zeroed. With the second of extern_spec_flags().
std::string kernel_program_text(const ExternDispatch& dispatch, problem::GpuBackend backend);

// The flags that apply it, where the objects are in the spec's own folder.
std::vector<std::string> extern_spec_flags(const std::string& spec, const std::string& folder);

}  // namespace hone::iree
