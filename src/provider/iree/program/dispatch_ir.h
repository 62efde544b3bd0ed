// A dispatch's stand-alone module in a session, with its root operation found.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "problem/dispatch.h"
#include "provider/iree/compiler/compiler_session.h"
#include "provider/iree/compiler/configuration.h"

namespace hone::iree {

// The module as parsed from problem::Dispatch::source (at executable-sources), and what the
// compiler's own configuration of it says.
struct DispatchIr {
  OwnedModule module;
  OwnedModule configured;          // at executable-configurations: constraints are in it
  MlirOperation export_operation;  // in module
  MlirOperation function;          // in module
  MlirOperation root;              // in module; null when the compiler configures none
  int root_operations = 0;
  // On a CPU, of what is no contraction or convolution, in `configured`; else empty.
  std::vector<problem::SurroundingOperation> surrounding;
  // The compiler takes the root apart before it configures it (softmax): it carries no
  // configuration itself, one of its parts in `configured` does.
  bool decomposed = false;
  // The root has another number of loops in `configured`: what it is given in `module` is dropped.
  bool reshaped = false;
  // So it is for a convolution of one image on a CPU: the program's folding of unit loops takes its
  // batch loop, and IREE gives it back once it has read configurations
  // (InsertBatchDimForBatchlessConv). `configured` holds the form that has to be configured.
  bool batch_restored = false;
  // Tensors of it have encodings, which the compiler makes other shapes of after it has read
  // configurations (data tiling): what the root is given in `module` is lost.
  bool encoded = false;
  Attributes defaults;  // of the root operation and its function
};

// Parses the source and configures a copy to learn the root operation (marked by the compiler;
// where it marks none, the last structured operation) and the defaults. Input error with the
// compiler's words when either fails.
Result<DispatchIr> read_dispatch(const CompilerSession& session, const std::string& name,
                                 const std::string& source);

// The root operation of a configured function: the one that the compiler marked; else, since it
// marks none that the user configured, the last operation whose lowering_config
// distributes work (a CPU's), the last contraction with a lowering_config; else the last operation
// with one. A null handle when none has one.
MlirOperation configured_root(const Ir& ir, MlirOperation function);

}  // namespace hone::iree
