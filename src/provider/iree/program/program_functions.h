// Functions of a program that can be called from outside, with their arguments and results, and the
// parameters that the program takes from files.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "problem/dispatch.h"
#include "problem/types.h"
#include "provider/iree/compiler/ir.h"

namespace hone::iree {

// Argument types in PyTorch's dialect, which iree-import-onnx writes, by function name. Nothing for
// an argument that is no tensor of a known type.
using TorchArguments = std::map<std::string, std::vector<std::optional<problem::TensorType>>>;

// Reads the arguments from a program as it was parsed; empty for one of another dialect.
TorchArguments torch_arguments(const Ir& ir, const OwnedModule& parsed);

// Returns the functions of a program at executable-sources. IREE leaves the declaration
//   sync func @f(%input0: tensor<2xf32>) -> (%output0: tensor<2xf32>)
// (iree.abi.declaration) on most functions. A function from PyTorch has none: it calls another,
// named f$async, that also takes fences. Its types are those that f$async imports its arguments as
// and exports its results from. An unused argument has its type from `torch`. Functions with
// arguments or results other than numbers and tensors of known types are omitted.
std::vector<problem::Function> functions_of(const Ir& ir, const OwnedModule& program,
                                            const TorchArguments& torch);

struct ConsumedArguments {
  // Indices of the arguments that hold a result after the call (torch.overwrite.tensor.contents). A
  // function with a declaration has none: it gives arguments away (iree.abi.consume), or names them
  // as storage for a result that it returns (iree.abi.output).
  std::vector<int> overwritten = {};
  bool any = false;  // whether a call may leave any argument changed
};

// Reads a function in a program at executable-sources.
ConsumedArguments consumed_arguments(const Ir& ir, const OwnedModule& program,
                                     const std::string& function);

// "!torch.vtensor<[1,?,64],si64>" as "1x?x64xi64": integers lose their sign. Nothing for other
// text.
std::optional<problem::TensorType> torch_type(std::string_view text);

// A parameter that a program takes from a file: weights that are no part of it.
struct ProgramParameter {
  std::string scope;  // which of the files; empty: the one without scope
  std::string key;    // its name there
  problem::TensorType type;

  bool operator==(const ProgramParameter&) const = default;
};

// Lists the parameters that the program's text or bytecode names, each once, in the order of the
// text. The compiler prints them, and keeps them in bytecode, as
//   #flow.parameter.named<"model"::"weight"> : tensor<4x8xf32>
// (#stream.parameter.named too). A parameter of a type that hone does not know is omitted.
std::vector<ProgramParameter> parameters_in(std::string_view program);

}  // namespace hone::iree
