// The functions of a program that can be called from outside, with what they take and return.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "problem/dispatch.h"
#include "provider/iree/compiler/ir.h"

namespace hone::iree {

// By a function's name: the types of its arguments as PyTorch's dialect has them, which is what
// iree-import-onnx writes. Nothing for one that is no tensor of a type hone knows.
using TorchArguments = std::map<std::string, std::vector<std::optional<problem::TensorType>>>;

// Reads the arguments from a program as it was parsed; empty for one of another dialect.
TorchArguments torch_arguments(const Ir& ir, const OwnedModule& parsed);

// Returns the functions of a program at executable-sources. IREE leaves the declaration
//   sync func @f(%input0: tensor<2xf32>) -> (%output0: tensor<2xf32>)
// (iree.abi.declaration) on most functions. One that comes from PyTorch has none: it calls another,
// named f$async, that takes fences too, and types are those that this one imports its arguments as
// and exports its results from; an argument that it does not use has its type from `torch`. What
// takes or returns something else than numbers and tensors of known types is left out.
std::vector<problem::Function> functions_of(const Ir& ir, const OwnedModule& program,
                                            const TorchArguments& torch);

struct ConsumedArguments {
  // Numbers of those that hold a result after the call (torch.overwrite.tensor.contents). A
  // function with a declaration has none: it gives arguments away (iree.abi.consume), or names them
  // as room for a result that it returns (iree.abi.output).
  std::vector<int> overwritten = {};
  bool any = false;  // whether a call may leave any argument changed
};

// Reads a function in a program at executable-sources.
ConsumedArguments consumed_arguments(const Ir& ir, const OwnedModule& program,
                                     const std::string& function);

// "!torch.vtensor<[1,?,64],si64>" as "1x?x64xi64": integers lose their sign. Nothing for other
// text.
std::optional<problem::TensorType> torch_type(std::string_view text);

}  // namespace hone::iree
