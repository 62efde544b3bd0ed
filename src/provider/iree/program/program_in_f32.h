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

// `module`, as the compiler prints it once it has promoted its types: it leaves the types of
// parameters as they are in their file and gives the globals that hold them the wide ones (IREE
// 3.13). Here the globals have the narrow ones again, and what is loaded from them is widened.
std::string widen_behind_loads(std::string_view module);

}  // namespace hone::iree
