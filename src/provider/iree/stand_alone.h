// A dispatch cut out of its program, so that it can be stored and compiled by itself.
#pragma once

#include <string>

#include "provider/iree/ir.h"

namespace hone::iree {

// Text of a module that holds the one executable (public, so that it is kept), the devices it is
// compiled for and the program's module attributes, but no function and no weight. Compiling it
// gives the code that compiling the whole program gives for this executable.
std::string stand_alone_text(const Ir& ir, const OwnedModule& program,
                             const std::string& executable);

// Undoes the compiler's configuration in a module that was printed at executable-configurations
// (the *_benchmark.mlir files), so that it can be configured anew.
void remove_configurations(const Ir& ir, const OwnedModule& module);

}  // namespace hone::iree
