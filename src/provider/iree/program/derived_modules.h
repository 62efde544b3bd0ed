// Modules derived from a program: a dispatch alone, its bare root alone, the program in f32.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "provider/iree/compiler/compiler_session.h"
#include "provider/iree/compiler/library.h"
#include "provider/iree/program/launches.h"

namespace hone::iree {

// Cuts a dispatch out of its program, so that it can be stored and compiled by itself.
//
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

// Makes a module that was printed at executable-configurations (the *_benchmark.mlir files) one
// that can be configured anew, and compiled for the device that the session's flags name: a GPU's
// dispatch for the host's CPU too, as its reference. Returns false, and does nothing, for a module
// that holds no executables yet. Input errors: the compiler makes no code for that device; a kernel
// that takes parts of AMD's buffers.
Result<bool> unconfigure(const CompilerSession& session, const OwnedModule& module);

// Extracts the bare root operation of a dispatch, without the operations fused around it, as a
// program of its own: a module with one function, @root, that takes the root operation's inputs and
// returns its results: the compiler's own operation with its shapes, element types, indexing maps
// and body. The initial value of the output stays: a fill of a constant is part of the program, an
// output that is only written is a tensor.empty, an accumulated output is an argument.
//
// `source` is problem::Dispatch::source, `flags` as for load_program. Input error if the dispatch
// has no root operation or has dynamic shapes, or if the operation uses values computed outside of
// it.
Result<std::string> extract_root(const CompilerLibrary& library, const std::string& name,
                                 const std::string& source, const std::vector<std::string>& flags);

// Compiles a variant of a program that computes in f32 instead of narrower floats. A comparison
// with it shows the cost of their rounding. Returns the bytes of a .vmfb, with f32 for each f16 and
// bf16 in the program, its arguments and results included; parameters are read as narrow as they
// are, and widened. Errors: as compile_program.
Result<std::string> compile_program_in_f32(const CompilerLibrary& library, const std::string& path,
                                           std::string_view bytes,
                                           const std::vector<std::string>& flags);

// Fixes `module`, which the compiler printed after promoting its types. The compiler keeps the
// types of parameters as in their file, but widens the globals that hold them (IREE 3.13). This
// function makes the globals narrow again and widens the values loaded from them.
std::string widen_behind_loads(std::string_view module);

}  // namespace hone::iree
