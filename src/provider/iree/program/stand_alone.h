// A dispatch cut out of its program, so that it can be stored and compiled by itself.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "provider/iree/program/launches.h"

namespace hone::iree {

// Text of a module that holds the one executable (public, so that it is kept), the devices it is
// compiled for and the program's module attributes, but no function and no weight. Compiling it
// gives the code that compiling the whole program gives for this executable.
std::string stand_alone_text(const Ir& ir, const OwnedModule& program,
                             const std::string& executable);

// Text of a dispatch's module with the launch values written into it. A dispatch of two sizes has
// two sources, and the compiler of a source knows how its code is launched. Addresses among the
// constants must be zero (views.h).
std::string with_launch_values(const Ir& ir, const OwnedModule& dispatch,
                               const LaunchValues& values);
// Reads the values that with_launch_values() wrote; empty if there are none.
LaunchValues launch_values(const Ir& ir, MlirOperation export_operation);

// Undoes the compiler's configuration in a module that was printed at executable-configurations
// (the *_benchmark.mlir files), so that it can be configured anew.
void remove_configurations(const Ir& ir, const OwnedModule& module);

}  // namespace hone::iree
