// A kernel's PTX under the parameters of another kernel's launch.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "problem/launch.h"
#include "provider/external/dispatch_form.h"

namespace hone::external {

// Memory of the kernel's own: so many bytes of a variable of its module, zero when that is loaded,
// between guards (problem::OwnMemory).
struct Scratch {
  std::int64_t bytes = 0;
};

// What one of the function's parameters is to be: an address, or a whole number.
using Argument = std::variant<Place, std::int64_t, Scratch>;

// The name of that variable.
std::string scratch_variable(const std::string& entry);

// The names of the module's kernels.
std::vector<std::string> ptx_entries(std::string_view ptx);

// Whether code for the PTX's .target runs on `device` ("sm_90"): an older one's does, that of an
// architecture-specific target ("sm_90a") on that one only. A failure that names both.
Status check_target(std::string_view ptx, std::string_view device);

// The module with its kernel `function` called `entry`, whose parameters are the addresses of
// `bindings` bindings and behind them `constants` words of 32 bits, as IREE's CUDA driver launches
// kernels: where the function reads a parameter of its own, it gets the binding's address plus the
// place's offset, the number, or the address of its scratch memory. The code is the function's own
// otherwise, and the numbers are known to the assembler. Failures: no such kernel (nearest names),
// as many parameters as arguments are not there, an address for a parameter that is none or a
// number for one that is, one that the function takes the address of, a structure. `threads` of a
// block: a failure where the function is made for fewer (.maxntid, .reqntid).
Result<std::string> with_launch(const std::string& ptx, const std::string& function,
                                const std::string& entry, const std::vector<Argument>& arguments,
                                int bindings, int constants, std::int64_t threads);

}  // namespace hone::external
