// A dispatch's stand-alone module in a session, with its root operation found.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "problem/dispatch.h"
#include "provider/iree/compiler/attributes.h"
#include "provider/iree/compiler/compiler_session.h"
#include "provider/iree/compiler/ir.h"

namespace hone::iree {

// The module as parsed from problem::Dispatch::source (at executable-sources), and the facts from
// the compiler's own configuration of it.
struct DispatchIr {
  OwnedModule module;
  OwnedModule configured;          // at executable-configurations: constraints are in it
  MlirOperation export_operation;  // in module
  MlirOperation function;          // in module
  MlirOperation root;              // in module; null when the compiler configures none
  int root_operations = 0;
  // Surrounding operations in `configured`, for roots on a CPU other than contractions and
  // convolutions; else empty.
  std::vector<problem::SurroundingOperation> surrounding;
  // The compiler splits the root before it configures it (softmax): the root itself has no
  // configuration, one of its parts in `configured` does.
  bool decomposed = false;
  // The root has another number of loops in `configured`: a configuration in `module` is dropped.
  bool reshaped = false;
  // The root is a convolution of one image on a CPU, reshaped in this way: the program's folding of
  // unit loops removes its batch loop, and IREE restores it after it has read configurations
  // (InsertBatchDimForBatchlessConv). `configured` holds the form to configure.
  bool batch_restored = false;
  // Tensors of the root have encodings (data tiling). The compiler reshapes them after it has read
  // configurations, so a configuration in `module` is lost.
  bool encoded = false;
  Attributes defaults;  // of the root operation and its function
};

// Parses the source and configures a copy to learn the root operation and the defaults. The root is
// the operation that the compiler marks, or else the last structured operation. Input error with
// the compiler's words if either step fails.
Result<DispatchIr> read_dispatch(const CompilerSession& session, const std::string& name,
                                 const std::string& source);

// The root operation of a configured function: the operation that the compiler marked. The compiler
// does not mark one that the user configured. In that case it is, in this order: the last operation
// whose lowering_config distributes work (a CPU's), the last contraction with a lowering_config,
// the last operation with one. A null handle if no operation has one.
MlirOperation configured_root(const Ir& ir, MlirOperation function);

// An operation that a configuration of the root affects. IREE configures it itself only if it
// chooses the root's configuration; a given root configuration must come with those of these.
struct FoundSurrounding {
  MlirOperation operation;
  problem::SurroundingOperation what;
};

// Finds the operations that are connected with `root` through tensors. Their order follows from the
// IR alone: equal modules give equal lists. Loops are followed through the dimensions of shared
// tensors, as in IREE's IterationDimTracker. Tensors without contents (tensor.empty) connect
// nothing.
std::vector<FoundSurrounding> find_surrounding(const Ir& ir, MlirOperation function,
                                               MlirOperation root);

}  // namespace hone::iree
