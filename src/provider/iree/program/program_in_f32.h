// A variant of a program that computes in f32 instead of narrower floats. A comparison with it
// shows the cost of their rounding.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "provider/iree/compiler/library.h"

namespace hone::iree {

// Compiles to the bytes of a .vmfb, with f32 for each f16 and bf16 in the program, its arguments
// and results included; parameters are read as narrow as they are, and widened. Errors: as
// compile_program.
Result<std::string> compile_program_in_f32(const Library& library, const std::string& path,
                                           std::string_view bytes,
                                           const std::vector<std::string>& flags);

// Fixes `module`, which the compiler printed after promoting its types. The compiler keeps the
// types of parameters as in their file, but widens the globals that hold them (IREE 3.13). This
// function makes the globals narrow again and widens the values loaded from them.
std::string widen_behind_loads(std::string_view module);

}  // namespace hone::iree
