// Linking inside the compiling process.
//
// For llvm-cpu the compiler runs its linker as `system("LLD_VERSION=IREE .../iree-lld -flavor gnu
// ...")`. That is a shell and a program that only maps the 336 MB library again and calls
// ireeCompilerRunLldMain in it. hone therefore defines `system` itself by symbol interposition: GNU
// ld and lld let an executable's own definition shadow that of a C library. If the compiler's
// library calls its linker, a fork of the calling process serves the call, since it already has the
// library mapped. This needs a process with one thread. Every other call goes on to the C library.
// The fork is in the caller's process group and dies with it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hone::iree {

// The linker's arguments (program name first) if `command` is the compiler's call of its linker:
// "LLD_VERSION=IREE <program> -flavor gnu <arguments>", with no character that a shell would treat
// specially. Nothing otherwise.
std::optional<std::vector<std::string>> linker_arguments(std::string_view command);

// Whether the interposition is in effect in this executable. If it is not, the compiler's linker
// runs as a process of its own, which is slower and has the same result.
bool links_in_process();

}  // namespace hone::iree
