// A kernel's PTX under the parameters of another kernel's launch.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "problem/launch.h"
#include "provider/external/dispatch_form.h"

namespace hone::external {

// Scratch memory of a kernel: a variable of its module, `bytes` long, between guards
// (problem::OwnMemory). It is zero when the module is loaded.
struct Scratch {
  std::int64_t bytes = 0;
};

// Argument for one of the function's parameters: an address, a whole number, or scratch memory.
using Argument = std::variant<OperandPlace, std::int64_t, Scratch>;

// Name of the variable of a kernel's scratch memory.
std::string scratch_variable(const std::string& entry);

// The names of the module's kernels.
std::vector<std::string> ptx_entries(std::string_view ptx);

// Checks that code for the PTX's .target runs on `device` ("sm_90"). An older target's code does;
// that of an architecture-specific target ("sm_90a") runs on that one only. A failure names both.
Status check_target(std::string_view ptx, std::string_view device);

// Returns the module with its kernel `function` renamed to `entry`. Its parameters become the
// addresses of `bindings` bindings and then `constants` words of 32 bits, as IREE's CUDA driver
// launches kernels. A read of one of the function's parameters becomes the binding's address plus
// the place's offset, the number, or the address of its scratch memory. The code is otherwise
// unchanged, and the assembler knows the numbers. Failures: no such kernel (nearest names); a count
// of arguments other than that of parameters; an address for a parameter that is none, or a number
// for one that is; a parameter that is a structure, or whose address the function takes. `threads`
// of a block: fails if the function is made for fewer (.maxntid, .reqntid).
Result<std::string> with_launch(const std::string& ptx, const std::string& function,
                                const std::string& entry, const std::vector<Argument>& arguments,
                                int bindings, int constants, std::int64_t threads);

}  // namespace hone::external
