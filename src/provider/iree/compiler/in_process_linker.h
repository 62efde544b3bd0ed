// Linking inside the compiling process.
//
// For llvm-cpu the compiler runs its linker as `system("LLD_VERSION=IREE .../iree-lld -flavor gnu
// ...")`: a shell, and a program whose whole work is to map the 336 MB library again and call
// ireeCompilerRunLldMain in it. hone therefore defines `system` itself: symbol interposition, which
// GNU ld and lld give every executable whose own definition of a C library's function shadows it. A
// call that comes from the compiler's library and asks for its linker is served by a fork of the
// calling process, which has the library mapped already, where that has one thread; every other
// call goes on to the C library. The fork is in the caller's process group and dies with it.
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
