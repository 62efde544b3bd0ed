// Extracts a kernel of a PTX module, so that kernels of different modules can be compared. IREE
// links all kernels of a program into one module and measures none of them there.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hone::provider {

// Compiler's symbol for the kernel of the function `name`, of letters, digits and underscores only:
// "main_async" for "main$async" (IREE's sanitizeSymbolName).
std::string symbol_in_code(std::string_view name);

// Text of the kernel `entry`, or symbol_in_code(entry), with the parts of its module that it uses.
// These are the module's version and target and the module-level variables that the kernel names.
// Comments are removed, and so is the function's number in names of LLVM's back end ($L__BB1_3,
// __local_depot1). Returns the whole module if the kernel calls functions; nothing if there is no
// such kernel.
std::optional<std::string> ptx_kernel(std::string_view ptx, std::string_view entry);

// Whether two modules have the same kernel `entry`: by its text in PTX, else byte for byte.
bool same_kernel(std::string_view a, std::string_view b, std::string_view entry);

}  // namespace hone::provider
