// One kernel of a PTX module, in a form in which kernels of different modules can be compared: IREE
// links all kernels of a program into one module, and measures none of them there.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hone::provider {

// What a compiler calls the kernel of a function with this name where only letters, digits and
// underscores are allowed: "main_async" of "main$async" (IREE's sanitizeSymbolName).
std::string symbol_in_code(std::string_view name);

// The kernel `entry`, or symbol_in_code(entry), and what it uses of its module: its text without comments, with the number of
// the function left out of names that LLVM's back end makes of it ($L__BB1_3, __local_depot1), the
// module's version and target, and the module-level variables that it names. The whole module where
// the kernel calls functions. Nothing where there is no such kernel.
std::optional<std::string> ptx_kernel(std::string_view ptx, std::string_view entry);

}  // namespace hone::provider
